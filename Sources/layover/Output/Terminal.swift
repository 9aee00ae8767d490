import Foundation
import LayoverText

/// The abilities of the terminal behind an output. Colours are decided here and nowhere else.
struct Terminal: Sendable {
    /// The width in columns; nil: nothing is cut, as in a file or a pipe.
    var width: Int?
    /// The height in lines; nil: there is no end.
    var height: Int?
    var hasColor: Bool
    /// Whether lines can be drawn over.
    var isInteractive: Bool

    static let plain = Terminal(width: nil, hasColor: false, isInteractive: false)

    static func standardOutput(environment: [String: String] = ProcessInfo.processInfo.environment) -> Terminal {
        on(STDOUT_FILENO, environment)
    }

    static func standardError(environment: [String: String] = ProcessInfo.processInfo.environment) -> Terminal {
        on(STDERR_FILENO, environment)
    }

    /// - SeeAlso: no-color.org
    private static func on(_ descriptor: Int32, _ environment: [String: String]) -> Terminal {
        guard isatty(descriptor) == 1 else { return .plain }
        let size = measuredSize(descriptor)
        let isDumb = environment["TERM"] == "dumb"
        return Terminal(
            width: environment["COLUMNS"].flatMap(Int.init) ?? size?.width ?? 80, height: size?.height,
            hasColor: environment.nonempty("NO_COLOR") == nil && !isDumb, isInteractive: !isDumb)
    }

    private static func measuredSize(_ descriptor: Int32) -> (width: Int, height: Int)? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return nil
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// The text in the colour of a state. The text names the state too: colour never says anything alone.
    func colored(_ text: String, as state: String) -> String {
        guard hasColor, let code = Self.colors[state] else { return text }
        return "\u{1B}[\(code)m\(text)\u{1B}[0m"
    }

    private static let colors = [
        "waiting": 33, "attempting": 36, "held": 35, "undecided": 35, "delivered": 32, "online": 32,
        "cancelled": 90, "expired": 31, "failed": 31, "offline": 31, "portal": 31, "limited": 33,
        "error": 31, "warning": 33,
    ]

    /// Text from elsewhere, made harmless: control characters could move the cursor or worse, and others change the order
    /// in which text is shown.
    static func safe(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { scalars.append(isHarmful(scalar) ? "\u{FFFD}" : scalar) }
        return String(scalars)
    }

    /// JSON with the same values, whose strings have such characters as `\u` escapes. Line breaks between its parts stay.
    static func safeJSON(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isEscapedInJSON) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            guard isEscapedInJSON(scalar) else {
                result.unicodeScalars.append(scalar)
                continue
            }
            for unit in Character(scalar).utf16 { result += "\\u" + Hexadecimal.text(unit) }
        }
        return result
    }

    /// A value as JSON on one line, made harmless in the same way.
    static func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return safeJSON(String(decoding: try encoder.encode(value), as: UTF8.self))
    }

    private static func isEscapedInJSON(_ scalar: Unicode.Scalar) -> Bool {
        isHarmful(scalar) && scalar != "\n" && scalar != "\r" && scalar != "\t"
    }

    private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
