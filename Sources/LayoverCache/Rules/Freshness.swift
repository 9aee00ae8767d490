import LayoverEngine

/// How old a response is and how long it is fresh (RFC 9111 sections 4.2.1 to 4.2.3). All numbers are seconds.
enum Freshness {
    /// Divides the time from the last change of a response to its date. A response without `max-age` and `Expires` is fresh for that part,
    /// a tenth (RFC 9111 section 4.2.2).
    static let heuristicDivisor = 10

    /// How long the response is fresh from when it was made. `s-maxage` is for shared caches.
    static func lifetime(of response: ResponseFacts, answeredAt: Int) -> Int {
        switch response.directives.seconds("max-age") {
        case .value(let seconds): return seconds
        // Freshness that cannot be read is none (RFC 9111 section 4.2.1).
        case .invalid, .unbounded: return 0
        case .absent: break
        }
        let date = response.date("date", now: answeredAt) ?? answeredAt
        if response.fields.contains("expires") {
            // An unreadable date, `0` above all, lies in the past (RFC 9111 section 5.3). So does one of several.
            guard response.fields.values("expires").count == 1, let expires = response.date("expires", now: answeredAt)
            else { return 0 }
            return max(0, expires - date)
        }
        guard response.isHeuristicallyCacheable || response.directives.has("public"),
            let changed = response.date("last-modified", now: answeredAt)
        else { return 0 }
        return max(0, date - changed) / heuristicDivisor
    }

    /// The age of a response at the moment it came (`corrected_initial_age`).
    static func initialAge(of response: ResponseFacts, at times: CacheTimes) -> Int {
        let apparent = response.date("date", now: times.answeredAt).map { max(0, times.answeredAt - $0) } ?? 0
        let delay = max(0, times.answeredAt - times.requestedAt)
        return max(apparent, statedAge(of: response) + delay)
    }

    /// The age now. A clock that was set back makes nothing younger than it was.
    static func age(initialAge: Int, answeredAt: Int, now: Int) -> Int {
        initialAge + max(0, now - answeredAt)
    }

    /// `Age`: the first member, if it is a number (RFC 9111 section 5.1).
    private static func statedAge(of response: ResponseFacts) -> Int {
        guard let first = response.fields.text("age").flatMap({ ListText.members(of: $0).first }),
            first.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return 0 }
        return min(Int(first) ?? CacheDirectives.secondsMax, CacheDirectives.secondsMax)
    }
}
