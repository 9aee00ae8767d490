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

extension Engine {
    /// The outcome of a command for its caller. `done` means that a crash does not undo it.
    ///
    /// - Parameter command: Nil for a change of something else than its state.
    func outcome(_ result: EntryCommandResult, of id: EntryID, _ command: EntryCommand? = nil) async -> CommandOutcome {
        // A repeated cancellation waits for the disk too. If the first one is still not saved, the outcome is `unsaved`, not `conflict`.
        let isRepeated = result == .conflict && command == .cancel && isCancelledInMemoryOnly(id)
        guard result == .done || isRepeated else { return CommandOutcome(result) }
        return await waitUntilSaved(id) ? CommandOutcome(result) : .unsaved(savingFailure)
    }

    private func isCancelledInMemoryOnly(_ id: EntryID) -> Bool {
        !isSaved(id) && pending.entry(id, now: clock.now())?.state == .cancelled
    }

    /// Why the store refuses changes.
    var savingFailure: StoreFailure {
        saves.failure ?? store?.condition.failure ?? StoreFailure(.other, "The store did not save the change.")
    }
}
