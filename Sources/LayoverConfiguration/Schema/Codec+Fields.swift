import LayoverCore

extension Codec where Value == String {
    /// The same, as a `Secret`. Whether messages repeat it is said where the text is read.
    var secret: Codec<Secret> {
        Codec<Secret>(
            typeName, fromText: fromText, write: { write($0.revealed) },
            read: { (value) throws(Refusal) in Secret(try read(value)) })
    }

    /// A text that stays as it is once `read` has looked at it.
    static func plain(
        _ typeName: String, isSecret: Bool = false,
        read: @escaping @Sendable (String) throws(Refusal) -> String
    ) -> Codec {
        text(typeName, isSecret: isSecret, write: \.self, read: read)
    }

    /// Any text that is not empty.
    static func nonEmpty(_ typeName: String, isSecret: Bool = false) -> Codec {
        plain(typeName, isSecret: isSecret) { (text) throws(Refusal) in
            guard !text.isEmpty else { throw Refusal(message: "the string is empty") }
            return text
        }
    }

    /// A file or a folder; relative paths start at the folder of the configuration file.
    static var path: Codec {
        nonEmpty("path").allowing({ !$0.utf8.contains(0) }, orElse: "is not a path")
    }

    /// A token of RFC 9110 section 5.6.2: a method or the name of a field.
    static func token(_ typeName: String) -> Codec {
        plain(typeName) { (text) throws(Refusal) in
            guard FieldText.isToken(text) else {
                throw Refusal(message: "\(JSONValue.text(text).excerpt) is not a \(typeName)")
            }
            return text
        }
    }

    /// The name of a field that a route may take away.
    static var removableField: Codec {
        let name = token("field name")
        return plain(name.typeName) { (value) throws(Refusal) in
            let text = try name.read(.text(value))
            try FieldText.checkNotFraming(text, place: "")
            return text
        }
    }
}

extension Codec where Value == Secret? {
    /// A bearer token: visible ASCII, which a field value can carry as it is.
    ///
    /// The empty text is refused and does not stand for `null`: an environment variable that was
    /// forgotten to be filled must not take away the token of the file.
    static var secret: Codec {
        let token = Codec<String>.plain("string", isSecret: true) { (text) throws(Refusal) in
            guard !text.isEmpty, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw Refusal(message: "the token must consist of visible ASCII characters without spaces")
            }
            return text
        }.secret.orNull
        return Codec(
            token.typeName, fromText: { $0 == "null" ? .null : .text($0) }, write: token.write,
            read: token.read)
    }
}

extension Codec where Value == String {
    /// The key of a route: what a path can carry as it is (RFC 3986 section 2.3).
    static var routeKey: Codec {
        plain("string", isSecret: true) { (text) throws(Refusal) in
            let isUnreserved = text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "-._~".utf8.contains(byte)
                }
            }
            guard !text.isEmpty, isUnreserved else {
                throw Refusal(message: "the key must consist of letters, digits and -._~")
            }
            return text
        }
    }
}

extension Codec where Value == [String: String] {
    /// Names and values of fields, as they go on the wire.
    static var fields: Codec {
        let members = texts("object of field names and values")
        return Codec(members.typeName, fromText: members.fromText, write: members.write) {
            (value) throws(Refusal) in
            let fields = try members.read(value)
            var seen: Set<String> = []
            for (name, text) in fields.sorted(by: { $0.key < $1.key }) {
                let place = "." + name
                guard FieldText.isToken(name) else {
                    throw Refusal(place: place, message: "invalid field name")
                }
                try FieldText.checkNotFraming(name, place: place)
                guard seen.insert(name.lowercased()).inserted else {
                    throw Refusal(
                        place: place, message: "duplicate field: the names differ only in case")
                }
                guard FieldText.isValue(text) else {
                    throw Refusal(
                        place: place,
                        message: "a value must not contain control characters, or begin or end with a space")
                }
            }
            return fields
        }
    }
}

extension Codec where Value == [String: String] {
    /// The same, with each text as a `Secret`.
    var secrets: Codec<[String: Secret]> {
        Codec<[String: Secret]>(
            typeName, fromText: fromText, write: { write($0.mapValues(\.revealed)) },
            read: { (value) throws(Refusal) in try read(value).mapValues { Secret($0) } })
    }
}

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
