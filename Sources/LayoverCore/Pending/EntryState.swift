/// Where an entry of the pending set stands.
package enum EntryState: String, Sendable, Hashable, CaseIterable {
    /// Will be sent when what it waits for comes. Exits: attempting, held, undecided, delivered, cancelled, expired, failed.
    case waiting
    /// An attempt is being made. Exits: waiting, held, undecided, delivered, cancelled, expired, failed.
    case attempting
    /// A person stopped its automatic attempts. Exits: waiting, attempting, undecided, delivered, cancelled, expired, failed.
    case held
    /// A person has to decide; `why` is the reason. Exits: waiting, attempting, delivered, cancelled, expired, failed.
    case undecided
    /// The client got its response, or a person said that the origin has processed the request. Final.
    case delivered
    /// The client left, a person cancelled it, a newer request superseded it, a preflight dropped it, or the proxy stopped. Final.
    case cancelled
    /// Waited as long as it might. Final.
    case expired
    /// Its last failure was told to the client. Final.
    case failed

    package var isFinal: Bool {
        switch self {
        case .waiting, .attempting, .held, .undecided: false
        case .delivered, .cancelled, .expired, .failed: true
        }
    }

    /// The states of entries that are still in the set.
    package static var live: [EntryState] { allCases.filter { !$0.isFinal } }
}

/// What a waiting entry waits for.
package enum WaitReason: String, Sendable, Hashable, CaseIterable {
    /// Its due time.
    case time
    /// An admin to leave mode `offline`, or the network to come back.
    case network
    /// The gate of its origin to open.
    case origin
    /// Its turn: the window of its origin is full.
    case turn
    /// Those before it in its lane.
    case lane
    /// A ticket that it depends on.
    case parent
    /// The end of a pause that its origin asked for, or the retry budget.
    case pause
}

/// When an attempt that a person asked for is made.
package enum WillGo: String, Sendable, Hashable, CaseIterable {
    /// It is under way.
    case now
    /// When the mode is no longer `offline`.
    case modeEnds
    /// When the requests before it in its lane are done.
    case laneFree
    /// When the origin has room for another attempt.
    case windowOpens
    /// When a pause is over.
    case pauseEnds
}
