import LayoverEngine

/// Whether a kept response may be given now (RFC 9111 sections 4, 4.2.4 and 5.2, RFC 5861 section 4).
enum ServingRule {
    enum Verdict: Sendable, Equatable {
        /// - Parameter freshFor: 0 and less if it is stale.
        case serve(freshFor: Int)
        case refuse(CacheMiss)
    }

    static func verdict(
        on response: ResponseFacts, lifetime: Int, age: Int, to request: RequestFacts, _ occasion: CacheOccasion
    ) -> Verdict {
        if request.forbidsCache { return .refuse(.forbidden) }
        if response.directives.isUnqualified("no-cache") { return .refuse(.mustRevalidate) }
        let asked = request.directives
        // A client may count a response as stale earlier than its origin does (section 5.2.1.1).
        let remaining = min(lifetime, bound(asked.seconds("max-age")) ?? lifetime) - age
        if let freshMin = bound(asked.seconds("min-fresh")), remaining < freshMin { return .refuse(.tooStale) }
        if remaining > 0 { return .serve(freshFor: lifetime - age) }
        if lifetime <= age, response.directives.has("must-revalidate") { return .refuse(.mustRevalidate) }
        guard let staleMax = staleMax(response, asked, occasion), -remaining <= staleMax else {
            return .refuse(.tooStale)
        }
        return .serve(freshFor: lifetime - age)
    }

    /// Most seconds that the response may have been stale; nil if it must be fresh.
    private static func staleMax(
        _ response: ResponseFacts, _ asked: CacheDirectives, _ occasion: CacheOccasion
    ) -> Int? {
        switch asked.seconds("max-stale") {
        case .unbounded: return .max
        case .value(let seconds): return seconds
        case .absent, .invalid: break
        }
        guard occasion == .unreachable else { return nil }
        if let seconds = bound(asked.seconds("stale-if-error")) { return seconds }
        // Whoever says how fresh it must be, without `max-stale`, wants nothing stale (section 5.2.1.1).
        if asked.has("max-age") || asked.has("min-fresh") { return nil }
        // Section 4.2.4 lets a disconnected cache give what is stale; RFC 5861 lets the origin bound that.
        return bound(response.directives.seconds("stale-if-error")) ?? .max
    }

    /// The seconds of a directive; 0, the strictest, if there is no readable number; nil if the directive is absent.
    private static func bound(_ seconds: CacheDirectives.Seconds) -> Int? {
        switch seconds {
        case .absent: nil
        case .value(let seconds): seconds
        case .invalid, .unbounded: 0
        }
    }
}

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
