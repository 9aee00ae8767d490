import FoundationEssentials

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
