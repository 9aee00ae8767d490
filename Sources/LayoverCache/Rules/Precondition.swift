/// What the client's preconditions make of a kept response (RFC 9111 section 4.3.2, RFC 9110 section 13.2).
enum Precondition {
    enum Verdict: Sendable, Equatable {
        /// The whole response.
        case whole
        /// The client has it already: 304.
        case notModified
        /// Only the origin can tell.
        case originOnly
    }

    /// - Parameter answeredAt: Seconds since 1970, for a response without dates.
    static func verdict(on response: ResponseFacts, answeredAt: Int, to request: RequestFacts) -> Verdict {
        if request.fields.contains("if-match") || request.fields.contains("if-unmodified-since") { return .originOnly }
        // The conditions are ignored where the response without them would be no 2xx (RFC 9110 section 13.2.1).
        guard (200...299).contains(response.status) else { return .whole }
        let tags = request.fields.texts("if-none-match")
        if !tags.isEmpty { return matches(tags, response.fields.text("etag")) ? .notModified : .whole }
        guard let text = request.fields.text("if-modified-since"),
            let since = ResponseFacts.seconds(text, now: answeredAt)
        else { return .whole }
        let changed =
            response.date("last-modified", now: answeredAt) ?? response.date("date", now: answeredAt) ?? answeredAt
        return changed <= since ? .notModified : .whole
    }

    /// Weak comparison (RFC 9110 section 8.8.3.2).
    static func isSame(_ one: String, _ other: String) -> Bool { opaque(one) == opaque(other) }

    private static func matches(_ lists: [String], _ own: String?) -> Bool {
        let tags = lists.flatMap { ListText.members(of: $0) }
        if tags.contains("*") { return true }
        guard let own else { return false }
        return tags.contains { isSame($0, own) }
    }

    private static func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
}
