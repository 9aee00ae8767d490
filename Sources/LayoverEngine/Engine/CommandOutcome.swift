import LayoverCore

/// What came of a command or a change, in memory and on disk.
package enum CommandOutcome: Sendable, Hashable {
    /// It is done, and of a ticket it is on disk.
    case done
    /// It is done in memory, but the disk has not taken it: a crash would undo it. It is tried again and again.
    case unsaved(StoreFailure)
    /// The entry has another revision than the caller saw.
    case stale
    case unknown
    /// Not in this state.
    case conflict
    case unacknowledged

    init(_ result: PendingSet.CommandResult) {
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

extension Engine {
    /// What somebody may be told of a command: a crash must not undo it afterwards.
    ///
    /// - Parameter command: Nil for a change of something else than its state.
    func outcome(_ result: CommandResult, of id: EntryID, _ command: EntryCommand? = nil) async -> CommandOutcome {
        // Whoever repeats a cancellation that the disk had not taken hears the same again, and not that it is over.
        let isRepeated = result == .conflict && command == .cancel && isCancelledInMemoryOnly(id)
        guard result == .done || isRepeated else { return CommandOutcome(result) }
        return await settled(id) ? CommandOutcome(result) : .unsaved(savingFailure)
    }

    private func isCancelledInMemoryOnly(_ id: EntryID) -> Bool {
        !isSaved(id) && pending.entry(id, now: clock.now())?.state == .cancelled
    }

    /// Why the disk does not take what changes.
    var savingFailure: StoreFailure {
        tickets.savingFailure ?? store?.condition.failure ?? StoreFailure(.other, "The store did not save the change.")
    }
}
