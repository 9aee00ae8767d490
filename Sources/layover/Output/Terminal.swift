import Foundation

/// The abilities of standard output.
struct Terminal: Sendable {
    /// In columns; nil where nothing is to be cut, as in a file or a pipe.
    var width: Int?
    /// In lines; nil where there is no end.
    var height: Int?
    var hasColor: Bool
    /// Whether lines can be drawn over.
    var isInteractive: Bool

    static let plain = Terminal(width: nil, hasColor: false, isInteractive: false)

    /// - SeeAlso: no-color.org
    static func standardOutput(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> Terminal {
        guard isatty(STDOUT_FILENO) == 1 else { return .plain }
        let size = measuredSize()
        let isDumb = environment["TERM"] == "dumb"
        return Terminal(
            width: environment["COLUMNS"].flatMap(Int.init) ?? size?.width ?? 80, height: size?.height,
            hasColor: environment.nonempty("NO_COLOR") == nil && !isDumb, isInteractive: !isDumb)
    }

    private static func measuredSize() -> (width: Int, height: Int)? {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return nil
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// The text in the colour of a state.
    func colored(_ text: String, as state: String) -> String {
        guard hasColor, let code = Self.colors[state] else { return text }
        return "\u{1B}[\(code)m\(text)\u{1B}[0m"
    }

    private static let colors = [
        "waiting": 33, "attempting": 36, "held": 35, "undecided": 35, "delivered": 32, "online": 32,
        "cancelled": 90, "expired": 31, "failed": 31, "offline": 31, "portal": 31, "limited": 33,
    ]

    /// Text from elsewhere, made harmless: control characters could move the cursor or worse.
    static func safe(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .lineSeparator, .paragraphSeparator: "\u{FFFD}"
                    default: scalar
                    }
                }))
    }
}
