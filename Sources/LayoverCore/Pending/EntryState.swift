/// Where an entry of the pending set stands.
package enum EntryState: String, Sendable, Hashable, CaseIterable {
    /// Will be sent when what it waits for comes. Exits: attempting, cancelled, expired, failed.
    case waiting
    /// An attempt is being made. Exits: waiting, delivered, cancelled, failed.
    case attempting
    /// The client got its answer. Final.
    case delivered
    /// The client left, or a person gave it up. Final.
    case cancelled
    /// Waited as long as it might. Final.
    case expired
    /// Its last failure was told to the client. Final.
    case failed

    package var isFinal: Bool {
        switch self {
        case .waiting, .attempting: false
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
}

/// What an admin can ask of an entry.
package enum EntryCommand: String, Sendable, Hashable, CaseIterable {
    case retry, cancel
}
