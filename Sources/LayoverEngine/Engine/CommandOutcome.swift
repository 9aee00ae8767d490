import LayoverCore

/// The result of a command or a change, in memory and on disk.
package enum CommandOutcome: Sendable, Hashable {
    /// It is done, and of a ticket it is on disk.
    case done
    /// It is done in memory, but not on disk: a crash would undo it. Saving is repeated until it succeeds.
    case unsaved(StoreFailure)
    /// The entry has another revision than the caller saw.
    case stale
    case unknown
    /// Not in this state.
    case conflict
    case unacknowledged

    init(_ result: EntryCommandResult) {
        self =
            switch result {
            case .done: .done
            case .stale: .stale
            case .unknown: .unknown
            case .conflict: .conflict
            case .unacknowledged: .unacknowledged
            }
    }
}
