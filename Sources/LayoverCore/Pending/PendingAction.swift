/// What the engine is to do after a fact.
package enum PendingAction: Sendable, Hashable {
    /// Make an attempt.
    case start(EntryID, AttemptTrigger)
    /// Abort the attempt if its connection does not stand yet; its failure starts the next one.
    case abandonConnecting(EntryID)
    /// Abort the attempt, by the command of a person, or because its time is over while its response has begun; what is known of the
    /// response is kept.
    case abortAttempt(EntryID, isCommanded: Bool)
    /// Make a ticket of it, if that can be done: its client has waited on its connection as long as it may.
    case offerTicket(EntryID)
    /// Tell its exchange the route and the policy that it has now: there was a reload.
    case reroute(EntryID)
    /// Find out whether others with its key wait for its outcome; `OthersLookedFor` follows.
    case lookForOthers(EntryID)
    /// Answer the client: the entry has come to its end without it.
    case end(EntryID, EntryEnd)
    /// Tell the client that its request was not parked, and which limit forbids it.
    case refuse(EntryID, limit: String, value: Int)
    /// The response in hand is not delivered: its exchange is in the set now.
    case dropResponse(EntryID)
    /// Deliver the response in hand: nothing more may be tried, and the rule says why.
    case deliverResponse(EntryID, Verdict.DeliverReason)
    /// Report an incident to all watchers.
    case incident(IncidentEventKind, Incident)
    /// The gate of an origin opened or shut: what the network as a whole can be judged by.
    case gate(Origin, isShut: Bool)
    /// Tell every loop how matters stand with an origin.
    case announce(Origin, OriginNotice)
    /// Report it to all watchers.
    case report(EntryEventKind, EntryID)
}

/// Why an entry ended, where the set decided it.
package enum EntryEnd: Sendable, Hashable {
    /// By a person, whose words these are.
    case cancelled(reason: String?)
    /// A person said that the origin has processed it; its response is not known.
    case settled(note: String?)
    /// A newer request to the same URL took its place before a byte of it was sent.
    case superseded(by: EntryID)
    /// The client waited `holdMax`, or the entry lived `lifetime`.
    case expired
    /// The proxy is being stopped.
    case draining
    /// It may have been applied, and a reload took back the word that it may be sent twice.
    case maybeApplied
    /// A reload during its attempt left it no automatic attempt. The client gets the stand-in response, if its policy has one.
    case exhausted(StandInResponse?)
    /// Its attempt went on without a client for as long as it might, or others needed its place (`limits.unattended`).
    case unattended
}

/// What loops know of an origin that is or was in trouble.
package enum OriginNotice: Sendable, Hashable {
    /// Park without an attempt.
    case shut
    /// Attempt, and tell what comes of it: entries are waiting.
    case watched
    /// As `watched`, but for the requests of these policies, which are parked without an attempt: the origin asked for a pause. The
    /// requests of `through` are parked too: their parent proxy asked for a pause.
    case paused(Set<String>, through: Set<ProxiedPolicy> = [])
    /// All is well.
    case forgotten

    /// Whether a fresh request of a policy is parked without an attempt.
    package func parks(_ policy: Policy, isInLane: Bool) -> Bool {
        switch self {
        case .shut: true
        case .paused(let policies, _): isInLane || policies.contains(policy.name)
        case .watched: isInLane
        case .forgotten: false
        }
    }

    /// The notice for requests through a parent proxy. Nil: they go through none.
    package func forRequests(through gate: Origin?) -> OriginNotice {
        guard case .paused(let policies, let proxied) = self, !proxied.isEmpty else { return self }
        return .paused(policies.union(proxied.filter { $0.gate == gate }.map(\.policy)))
    }
}

/// The requests of a policy that go through a parent proxy.
package struct ProxiedPolicy: Sendable, Hashable {
    package let policy: String
    /// Gate of the parent proxy.
    package let gate: Origin
}

extension ProxiedPolicy {
    /// Nil: the entry goes through no parent proxy.
    init?(of entry: Entry) {
        guard let gate = entry.parentProxyGate else { return nil }
        self.init(policy: entry.policy.name, gate: gate)
    }

    static func isBefore(_ one: Self, _ other: Self) -> Bool {
        one.policy == other.policy ? Origin.isBefore(one.gate, other.gate) : one.policy < other.policy
    }
}

/// The events of single entries, by their names on the event stream.
package enum EntryEventKind: String, Sendable, Hashable, CaseIterable {
    case parked = "request.parked"
    case attempted = "request.attempted"
    case changed = "request.changed"
    case ended = "request.ended"
}
