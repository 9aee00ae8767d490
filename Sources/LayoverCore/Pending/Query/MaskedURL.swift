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
