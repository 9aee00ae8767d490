import LayoverEngine

/// How old an answer is and how long it is fresh (RFC 9111 sections 4.2.1 to 4.2.3). All numbers are seconds.
enum Freshness {
    /// The part of the time since its last change that an answer without better word counts as fresh
    /// (RFC 9111 section 4.2.2): a tenth.
    static let heuristicDivisor = 10

    /// How long the answer is fresh from when it was made. `s-maxage` is for shared caches.
    static func lifetime(of answer: AnswerFacts, answeredAt: Int) -> Int {
        switch answer.directives.seconds("max-age") {
        case .value(let seconds): return seconds
        // Freshness that cannot be read is none (RFC 9111 section 4.2.1).
        case .invalid, .unbounded: return 0
        case .absent: break
        }
        let date = answer.date("date", now: answeredAt) ?? answeredAt
        if answer.fields.contains("expires") {
            // An unreadable date, `0` above all, lies in the past (RFC 9111 section 5.3). So does one of several.
            guard answer.fields.values("expires").count == 1, let expires = answer.date("expires", now: answeredAt)
            else { return 0 }
            return max(0, expires - date)
        }
        guard answer.isHeuristicallyCacheable || answer.directives.has("public"),
            let changed = answer.date("last-modified", now: answeredAt)
        else { return 0 }
        return max(0, date - changed) / heuristicDivisor
    }

    /// The age of an answer at the moment it came (`corrected_initial_age`).
    static func initialAge(of answer: AnswerFacts, at times: CacheTimes) -> Int {
        let apparent = answer.date("date", now: times.answeredAt).map { max(0, times.answeredAt - $0) } ?? 0
        let delay = max(0, times.answeredAt - times.requestedAt)
        return max(apparent, statedAge(of: answer) + delay)
    }

    /// The age now. A clock that was set back makes nothing younger than it was.
    static func age(initialAge: Int, answeredAt: Int, now: Int) -> Int {
        initialAge + max(0, now - answeredAt)
    }

    /// `Age`: the first member, if it is a number (RFC 9111 section 5.1).
    private static func statedAge(of answer: AnswerFacts) -> Int {
        guard let first = answer.fields.text("age").flatMap({ ListText.members(of: $0).first }),
            first.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return 0 }
        return min(Int(first) ?? CacheDirectives.secondsMax, CacheDirectives.secondsMax)
    }
}
