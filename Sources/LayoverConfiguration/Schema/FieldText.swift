/// Names and values of HTTP fields (RFC 9110 section 5).
enum FieldText {
    static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                let scalar = Unicode.Scalar(byte)
                return scalar.isASCII
                    && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
                    || "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
    }

    static func isValue(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) } && text.trimmed == text
    }

    /// Fields that frame the message, name its target or belong to one connection are Layover's own
    /// to write.
    static func checkNotFraming(_ name: String, place: String) throws(Refusal) {
        guard !ownNames.contains(name.lowercased()) else {
            throw Refusal(place: place, message: "Layover sets the field \(name) itself")
        }
    }

    /// The same for a response that Layover gives itself.
    static func checkNotOfResponses(_ name: String, place: String) throws(Refusal) {
        guard !responseFieldNames.contains(name.lowercased()) else {
            throw Refusal(place: place, message: "Layover sets the field \(name) itself")
        }
    }

    /// The first says that the response is a stand-in; the others speak for the proxy, not for the origin.
    private static let responseFieldNames: Set<String> = [
        "proxy-status", "proxy-authenticate", "proxy-authentication-info",
    ]

    private static let ownNames: Set<String> = [
        "connection", "content-length", "expect", "host", "keep-alive", "proxy-authorization",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "via",
    ]
}
