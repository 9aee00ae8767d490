import LayoverText

/// Reads one token, from behind its first tilde.
///
/// `~ticket.` is reserved: what begins like that and is no token is an error, because a mistyped token that went
/// upstream as it is would be found out too late. Any other tilde is ordinary text.
struct TokenReader {
    let bytes: UnsafeRawBufferPointer
    let place: TokenPlace
    let limits: TokenLimits

    private static let ticket = Array("ticket.".utf8)
    private static let uuid = Array("uuid".utf8)

    /// The token and the offset behind its last tilde; nil when the tilde is ordinary text.
    ///
    /// - Parameter end: Where the text ends in which the token must end too.
    func token(from offset: Int, end: Int, spelling: TokenSpelling) throws(TokenError) -> (token: Token, end: Int)? {
        var text: [UInt8] = []
        var cursor = offset
        while let (byte, next) = spelling.character(at: cursor, in: bytes, end: end) {
            cursor = next
            if byte == UInt8(ascii: "~") {
                if text == Self.uuid { return (.uuid, cursor) }
                guard text.starts(with: Self.ticket) else { return nil }
                return (try ticket(text.dropFirst(Self.ticket.count)), cursor)
            }
            text.append(byte)
            guard text.count > Self.ticket.count else {
                guard Self.ticket.starts(with: text) || Self.uuid.starts(with: text) else { return nil }
                continue
            }
            guard Self.isLegal(byte) else {
                throw malformed("has a character that must be percent-encoded, or its closing tilde is missing")
            }
            guard text.count <= limits.tokenByteCountMax else {
                throw TokenError(.limit, "A token in \(place.name) is longer than \(limits.tokenByteCountMax) bytes.")
            }
        }
        if text.starts(with: Self.ticket) { throw malformed("has no closing tilde") }
        return nil
    }

    private static func isLegal(_ byte: UInt8) -> Bool {
        PercentCoding.isAlphanumeric(byte) || "-_.%!$'()*,;:@".utf8.contains(byte)
    }

    private func malformed(_ what: String) -> TokenError {
        TokenError(.malformed, "A token in \(place.name) \(what).")
    }

    /// - Parameter text: What stands between `~ticket.` and the last tilde.
    private func ticket(_ text: ArraySlice<UInt8>) throws(TokenError) -> Token {
        let id = text.prefix { $0 != UInt8(ascii: ".") }
        guard id.count == 32, id.allSatisfy(Hexadecimal.isLowercaseDigit) else {
            throw malformed("does not name a ticket (32 hexadecimal digits in lower case)")
        }
        let rest = text.dropFirst(id.count + 1)
        return .ticket(id: String(decoding: id, as: UTF8.self), try part(rest))
    }

    private func part(_ text: ArraySlice<UInt8>) throws(TokenError) -> Token.Part {
        let word = String(decoding: text.prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self)
        let rest = text.dropFirst(word.utf8.count)
        switch (word, rest.isEmpty) {
        case ("location", true):
            return .location
        case ("field", false):
            return .field(try fieldName(rest.dropFirst()))
        case ("json", false):
            return .json(try keys(rest.dropFirst()))
        default:
            throw malformed("must ask for location, field.<name> or json.<key>")
        }
    }

    /// `field-name` of RFC 9110 section 5.1.
    private func fieldName(_ text: ArraySlice<UInt8>) throws(TokenError) -> String {
        guard let name = PercentCoding.decode(text), !name.isEmpty,
            name.allSatisfy({ PercentCoding.isAlphanumeric($0) || "!#$%&'*+-.^_`|~".utf8.contains($0) })
        else { throw malformed("does not name a field") }
        return String(decoding: name, as: UTF8.self).lowercased()
    }

    private func keys(_ text: ArraySlice<UInt8>) throws(TokenError) -> [String] {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count <= limits.jsonDepthMax else {
            throw TokenError(.limit, "A token in \(place.name) has more than \(limits.jsonDepthMax) keys.")
        }
        var keys: [String] = []
        for part in parts {
            guard let bytes = PercentCoding.decode(part), !bytes.isEmpty, let key = String(validating: bytes, as: UTF8.self)
            else { throw malformed("has an empty key, or one that is not percent-encoded UTF-8") }
            keys.append(key)
        }
        return keys
    }
}

/// How the characters of a token are written where it stands.
enum TokenSpelling: Sendable {
    /// As they are.
    case plain
    /// Perhaps percent-encoded, all of them: the text is decoded before it is read as a token.
    case percentEncoded
    /// As in a JSON string (RFC 8259 section 7), perhaps with escapes.
    case json

    /// Stands for whatever is no ASCII character. No token contains it.
    static var foreign: UInt8 { 0xFF }

    /// The character at `offset`, and the offset of the next one; nil at the end.
    func character(at offset: Int, in bytes: UnsafeRawBufferPointer, end: Int) -> (byte: UInt8, next: Int)? {
        guard offset < end else { return nil }
        switch (self, bytes[offset]) {
        case (.percentEncoded, UInt8(ascii: "%")):
            guard let byte = Hexadecimal.number(at: offset + 1, count: 2, in: bytes, end: end) else {
                return (Self.foreign, offset + 1)
            }
            return (UInt8(truncatingIfNeeded: byte), offset + 3)
        case (.json, UInt8(ascii: "\\")):
            return Self.escape(at: offset, in: bytes, end: end)
        case (_, let byte):
            return (byte, offset + 1)
        }
    }

    private static func escape(at offset: Int, in bytes: UnsafeRawBufferPointer, end: Int) -> (byte: UInt8, next: Int) {
        guard offset + 1 < end, bytes[offset + 1] == UInt8(ascii: "u"),
            let code = Hexadecimal.number(at: offset + 2, count: 4, in: bytes, end: end)
        else { return (foreign, min(offset + 2, end)) }
        return (code < 0x80 ? UInt8(code) : foreign, offset + 6)
    }
}
