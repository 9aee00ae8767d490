import FoundationEssentials
import LayoverText

/// The parameters of a query.
struct QueryParameters {
    /// By name in lower case. Of several with one name, the first one.
    private var values: [String: String] = [:]

    /// - Parameter target: Path and query.
    init(target: String) {
        self.init(pairs: target.drop { $0 != "?" }.dropFirst())
    }

    /// - Parameter pairs: `name=value` with ampersands between them, percent-encoded.
    init(pairs: some StringProtocol) {
        for pair in pairs.utf8.split(separator: UInt8(ascii: "&")) {
            let word = pair.prefix { $0 != UInt8(ascii: "=") }
            guard let name = PercentCoding.decode(word), let value = PercentCoding.decode(pair.dropFirst(word.count + 1))
            else { continue }
            let key = String(decoding: name, as: UTF8.self).lowercased()
            if values[key] == nil { values[key] = String(decoding: value, as: UTF8.self) }
        }
    }

    /// The value of the parameter, whose name is given in lower case. Nil when it is empty.
    subscript(_ name: String) -> String? {
        guard let value = values[name], !value.isEmpty else { return nil }
        return value
    }

    /// Whether the query has all of the names.
    func has(_ names: String...) -> Bool { names.allSatisfy { self[$0] != nil } }

    /// A value that consists of digits.
    func number(_ name: String) -> Int? { self[name].flatMap(DigitText.number) }
}

/// Numbers of digits only: no sign, no space.
enum DigitText {
    static func number(_ text: some StringProtocol) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(text)
    }
}

/// Base64 in the alphabets of URLs.
enum Base64Text {
    /// `base64url` without padding (RFC 7515 section 2); padding is tolerated.
    static func decodeURLSafe(_ text: some StringProtocol) -> [UInt8]? {
        decode(text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        })
    }

    /// As CloudFront writes it: `-` for `+`, `_` for `=`, `~` for `/`.
    static func decodeCloudFront(_ text: String) -> [UInt8]? {
        decode(text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "=")
            case UInt8(ascii: "~"): UInt8(ascii: "/")
            default: byte
            }
        })
    }

    private static func decode(_ text: [UInt8]) -> [UInt8]? {
        let bare = text.prefix { $0 != UInt8(ascii: "=") }
        let padding = Array(repeating: UInt8(ascii: "="), count: (4 - bare.count % 4) % 4)
        return Data(base64Encoded: Data(bare + padding)).map(Array.init)
    }
}
