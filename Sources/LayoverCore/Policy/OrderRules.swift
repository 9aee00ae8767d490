/// Which requests keep their order among themselves.
package enum LaneRule: Sendable, Hashable {
    /// All of one origin.
    case origin
    /// All of one origin whose paths begin with the same so many segments. 1 to 64.
    case path(Int)
    /// All of one origin with the same value of a field.
    case field(String)
}

/// The effect of an undecided entry on the entries behind it in its lane.
package enum UndecidedInLane: String, Sendable, Hashable, CaseIterable {
    /// The entries behind it wait until a person has decided.
    case block
    /// The entries behind it go on without it.
    case skip
}

/// The effect of a request on older ones to the same address that have not been sent.
package enum CoalesceRule: String, Sendable, Hashable, CaseIterable {
    case none
    /// A PUT takes the place of an older PUT.
    case lastPut
}

/// Whether good responses are kept for the time when the origin cannot be reached.
package enum CacheRule: String, Sendable, Hashable, CaseIterable {
    case none, staleIfError
}

/// A question to the origin before a ticket is sent to it.
package struct Preflight: Sendable, Hashable {
    /// The method of the question. Default: HEAD.
    package var method = "HEAD"
    /// Statuses after which the ticket makes no sense any more.
    package var dropOn: [Int] = [404, 410]
    /// Statuses after which a person has to decide.
    package var askOn: [Int] = [412]

    package init() {}

    /// What follows the response to the preflight.
    package enum Verdict: Sendable, Hashable { case send, drop, ask }

    package func verdict(on status: Int) -> Verdict {
        if dropOn.contains(status) { return .drop }
        return askOn.contains(status) ? .ask : .send
    }
}
