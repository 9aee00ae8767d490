/// Hides secrets in a URL that people and programs get to see.
///
/// Masked are the ids of tickets in tokens, the keys of routes (`MaskedRouteKeys`), userinfo and the values of query parameters whose
/// names sound like a secret: `token`, `api_key`, `X-Amz-Signature`, `clientSecret`, `code` and their like. The request itself is not
/// touched.
package enum MaskedURL {
    package static let mask = "***"

    package static func text(_ url: String) -> String {
        var url = url
        if url.withUTF8(isPlain) { return url }
        url = MaskedRouteKeys.text(MaskedTicketIDs.target(url))
        guard url.utf8.contains(UInt8(ascii: "?")) || url.utf8.contains(UInt8(ascii: "@")) else { return url }
        let (head, query) = split(url)
        return maskingUserinfo(head) + (query.map { "?" + maskingValues($0) } ?? "")
    }

    /// Whether nothing before the query is to be masked, as far as that is seen without a copy.
    static func hasPlainHead(_ url: UnsafeBufferPointer<UInt8>) -> Bool {
        let head = UnsafeBufferPointer(rebasing: url[..<(url.firstIndex(of: UInt8(ascii: "?")) ?? url.count)])
        guard !head.contains(UInt8(ascii: "@")), !MaskedRouteKeys.mayBeIn(head) else { return false }
        guard head.contains(UInt8(ascii: "%")) else { return !ASCIIScan.hasTicketWord(head) }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: head.count) { decoded in
            let count = ASCIIScan.percentDecode(head, to: decoded)
            return !ASCIIScan.hasTicketWord(UnsafeBufferPointer(rebasing: decoded[..<count]))
        }
    }

    /// Whether nothing of it is to be masked, as far as that is seen without a copy: that is so of the most of all URLs.
    private static func isPlain(_ url: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let headCount = ASCIIScan.plainHeadCount(url) else { return false }
        let query = UnsafeBufferPointer(rebasing: url[headCount...])
        guard ASCIIScan.isPlain(query), !ASCIIScan.hasTicketWord(query), !MaskedRouteKeys.mayBeIn(query) else { return false }
        return query.isEmpty || !secretStems.contains { ASCIIScan.contains($0, in: query) }
    }

    private static func split(_ url: String) -> (head: Substring, query: Substring?) {
        guard let mark = url.firstIndex(of: "?") else { return (url[...], nil) }
        return (url[..<mark], url[url.index(after: mark)...])
    }

    private static func maskingUserinfo(_ head: Substring) -> String {
        guard let scheme = head.utf8.firstRange(of: "://".utf8) else { return String(head) }
        let rest = head[scheme.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "#" }
        guard let at = authority.lastIndex(of: "@") else { return String(head) }
        return head[..<scheme.upperBound] + mask + rest[at...]
    }

    private static func maskingValues(_ query: Substring) -> String {
        var masked = ""
        var rest = query
        while true {
            let pair = rest.prefix { $0 != "&" && $0 != ";" && $0 != "#" }
            masked += maskingValue(pair)
            guard pair.endIndex < rest.endIndex else { return masked }
            masked.append(rest[pair.endIndex])
            rest = rest[rest.index(after: pair.endIndex)...]
        }
    }

    private static func maskingValue(_ pair: Substring) -> String {
        guard let sign = pair.firstIndex(of: "="), pair.index(after: sign) < pair.endIndex else {
            return String(pair)
        }
        let name = String(pair[..<sign])
        guard isSecret(TargetText.percentDecoded(name) ?? name) else { return String(pair) }
        return "\(name)=\(mask)"
    }

    private static let secretWords: Set<String> = [
        "assertion", "auth", "authorization", "bearer", "code", "credential", "credentials", "hmac", "jwt", "key",
        "pass", "passphrase", "passwd", "password", "pwd", "secret", "session", "sessionid", "sid", "sig",
        "signature", "token",
    ]
    /// One of them is in each name that sounds like a secret.
    private static let secretStems = [
        "assertion",
        "auth", "bearer", "code", "credential", "hmac", "jwt", "key", "pass", "pwd", "secret", "session", "sid", "sig", "token",
    ].map { Array($0.utf8) }
    private static let secretEndings = ["apikey", "accesskey", "password", "secret", "signature", "token"]

    /// Whole words, so that `keyword` and `encode` stay readable; endings for names written without a break.
    static func isSecret(_ name: String) -> Bool {
        words(of: name).contains { word in
            secretWords.contains(word) || secretEndings.contains { word.hasSuffix($0) }
        }
    }

    /// Words between signs and at humps (`clientSecret`), in small letters.
    private static func words(of name: String) -> [String] {
        var words: [String] = [""]
        var wasSmall = false
        for character in name {
            let isWordPart = character.isLetter || character.isNumber
            if !isWordPart || (wasSmall && character.isUppercase) { words.append("") }
            if isWordPart { words[words.count - 1] += character.lowercased() }
            wasSmall = character.isLowercase
        }
        return words
    }
}

/// Hides secrets in the value of a field whose name is not that of a credential: a Referer has a whole URL, and JSON Web Tokens stand
/// anywhere.
package enum MaskedValue {
    /// A value with its secrets hidden, for people and programs. The field itself is not touched.
    package static func text(_ value: String) -> String {
        withoutTokens(MaskedTicketIDs.text(MaskedURL.text(value)))
    }

    /// Replaces JSON Web Tokens (RFC 7519 section 3): `eyJ` begins the Base64 of `{"`, and two dots separate three parts.
    private static func withoutTokens(_ value: String) -> String {
        let bytes = Array(value.utf8)
        guard bytes.count >= byteCountMin else { return value }
        var out: [UInt8] = []
        var rest = bytes[...]
        while let found = rest.firstRange(of: beginning) {
            let isInside = found.lowerBound > rest.startIndex && isBase64URL(bytes[found.lowerBound - 1])
            let token = rest[found.lowerBound...].prefix { isBase64URL($0) || $0 == UInt8(ascii: ".") }
            let isToken = !isInside && token.count >= byteCountMin && token.count(where: { $0 == UInt8(ascii: ".") }) >= 2
            out += rest[..<found.lowerBound]
            out += isToken ? Array(MaskedURL.mask.utf8) : Array(token)
            rest = rest[token.endIndex...]
        }
        return String(decoding: out + rest, as: UTF8.self)
    }

    private static let beginning = Array("eyJ".utf8)
    /// No header and payload are shorter together. Default: 20.
    private static let byteCountMin = 20

    private static func isBase64URL(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

/// Hides the keys of routes in texts: `/.layover/route/NAME/~KEY/…` becomes `/.layover/route/NAME/~***/…`.
///
/// Any first segment that begins with `~` or `%7E` counts as a key, whatever the name: a mistyped name is no route, and the key behind it
/// is real all the same.
package enum MaskedRouteKeys {
    private static let prefix = Array("/.layover/route/".utf8)
    private static let mask = Array(("~" + MaskedURL.mask).utf8)

    /// Whether there may be a key.
    static func mayBeIn(_ text: UnsafeBufferPointer<UInt8>) -> Bool { ASCIIScan.contains(prefix, in: text) }

    /// The text with each key replaced. In URLs of any form, a Referer, or a whole line.
    package static func text(_ text: String) -> String {
        var text = text
        guard text.withUTF8(mayBeIn) else { return text }
        return String(decoding: replacing(Array(text.utf8)) { mask }, as: UTF8.self)
    }

    /// The bytes without the segments of keys: `/.layover/route/NAME/…`. Nil: there is none.
    package static func withoutKeys(_ bytes: some Sequence<UInt8>) -> [UInt8]? {
        let bytes = Array(bytes)
        guard bytes.withUnsafeBufferPointer(mayBeIn) else { return nil }
        let without = replacing(bytes) { nil }
        return without == bytes ? nil : without
    }

    /// - Parameter replacement: Of the segment; nil: it is removed with the slash before it.
    private static func replacing(_ bytes: [UInt8], by replacement: () -> [UInt8]?) -> [UInt8] {
        var out: [UInt8] = []
        var rest = bytes[...]
        while let found = rest.firstRange(of: prefix) {
            let name = rest[found.upperBound...].prefix { !isEnd($0) }
            out += rest[..<name.endIndex]
            rest = rest[name.endIndex...]
            guard rest.first == UInt8(ascii: "/"), isKey(rest.dropFirst()) else { continue }
            let segment = rest.dropFirst().prefix { !isEnd($0) }
            if let replacement = replacement() { out += [UInt8(ascii: "/")] + replacement }
            rest = rest[segment.endIndex...]
        }
        return out + rest
    }

    private static func isKey(_ segment: ArraySlice<UInt8>) -> Bool {
        segment.first == UInt8(ascii: "~") || segment.starts(with: "%7E".utf8) || segment.starts(with: "%7e".utf8)
    }

    /// Whether the byte ends a segment of a path, or the URL in a text.
    private static func isEnd(_ byte: UInt8) -> Bool { byte <= 0x20 || "/?#&\"'<>".utf8.contains(byte) }
}
