package import LayoverCore
import Logging
import NIOCore

/// Changes of tickets on their way to the store (`SaveQueue`), and waiting for them.
extension Engine {
    /// Pause before refused changes are handed in again. Default: 1 s.
    static let savingPauseMin: Duration = .seconds(1)
    /// Longest pause before refused changes are handed in again. It doubles with each try after a failure of kind `corrupt`, `io` or
    /// `other`: a damaged page does not recover, and each try costs the changes in its commit a second transaction. Default: 1 minute.
    private static let savingPauseMax: Duration = .seconds(60)
    /// Most tickets whose refused changes are handed in at once. Default: 1 000.
    private static let catchUpCountMax = 1000

    /// Works on one fact. What follows from each is done at its end: the changes of tickets are handed to the store, in order, and
    /// attempts begin.
    ///
    /// - Parameter work: Gets the time.
    func run<Answer>(_ work: (Timestamp) -> Answer) -> Answer {
        let answer = work(clock.now())
        finishFact()
        return answer
    }

    private func finishFact() {
        saveTouched()
        let starts = ticketStarts
        ticketStarts = []
        for (id, trigger) in starts { replay(id, trigger) }
        if !abortWaiters.isEmpty {
            let (pending, now) = (pending, clock.now())
            abortWaiters.end { pending.entry($0, now: now)?.state != .attempting }
        }
        if listenerTable != nil { listenerWatch.watch(pending.awaitedOnThisMachine, now: clock.now()) }
        armTimer()
    }

    private func saveTouched() {
        guard !saves.touched.isEmpty else { return }
        var changes: [(EntryID, StoreChange)] = []
        for id in saves.takeTouched() {
            guard let record = pending.record(of: id)?.shifted(by: ticketClock) else { continue }
            if let response = saves.responses.removeValue(forKey: id) {
                changes.append((id, .delivered(record, response)))
            } else {
                changes.append((id, .update(record)))
            }
            // In one commit with its end: there is no moment at which the ticket is final and still has its key.
            if record.state.isFinal, saves.neverAnnounced.remove(id) != nil { changes.append((id, .forgetKey(id))) }
        }
        save(changes)
    }

    /// Saves what the cut-off attempt of an ended ticket proved. The row stays final.
    func saveLateEvidence(of id: EntryID) {
        guard let record = pending.record(of: id), record.state.isFinal else { return }
        save([(id, .lateEvidence(record.shifted(by: ticketClock)))])
    }

    func save(_ new: [(EntryID, StoreChange)]) {
        guard let store, !new.isEmpty else { return }
        var changes: [(EntryID, StoreChange)] = []
        changes.reserveCapacity(new.count)
        for (id, change) in new {
            // Refused changes go first: the store ignores a change with an older revision.
            changes += saves.takeRefused(of: id)
            changes.append((id, change))
        }
        hand(changes, to: store)
    }

    private func hand(_ changes: [(EntryID, StoreChange)], to store: any PendingStore) {
        saves.handed(changes)
        store.commit(changes.map(\.1)) { result in
            self.eventLoop.execute { self.assumeIsolated { $0.saved(changes, result) } }
        }
    }

    func saved(
        _ changes: [(EntryID, StoreChange)], _ result: Result<[StoreResult], StoreFailure>
    ) {
        saves.finished(changes)
        switch result {
        case .success(let results):
            for (index, (id, change)) in changes.enumerated() {
                if results[index] == .stale {
                    // The row does not take the change: it is newer, final or missing.
                    logger.debug("no row for the change", metadata: ["ticket": "\(naming.shown(id))", "change": "\(change.name)"])
                } else if change.hasLongURLOfEnded, saves.isSaved(id) {
                    pending.urlIsStored(of: id)
                }
            }
            if saves.refused.isEmpty {
                saves.failure = nil
                savingPause = Self.savingPauseMin
            } else if savingPause == Self.savingPauseMin {
                saveRefused()
            }
            storeTook()
        case .failure(let failure):
            totals.storeFailureCount += 1
            saves.failure = failure
            // The store itself logs the beginning and the end of a failure; this line comes once a second.
            logger.debug(
                "saving to the store failed; retrying",
                metadata: ["error": "\(failure)", "tickets": "\(changes.count)"])
            for (id, change) in changes { saves.keep(change, of: id) }
            saveRefusedLater()
        }
        for (id, _) in changes { watchers.notify(about: id) }
    }

    private func saveRefusedLater() {
        guard !isSavingAgain else { return }
        isSavingAgain = true
        eventLoop.scheduleTask(in: TimeAmount.nanoseconds(savingPause.nanosecondsSaturating)) {
            self.assumeIsolated {
                $0.isSavingAgain = false
                switch $0.saves.failure?.kind {
                case .corrupt, .io, .other: $0.savingPause = min($0.savingPause * 2, Self.savingPauseMax)
                case .full, .readOnly, .locked, .closed, nil: $0.savingPause = Self.savingPauseMin
                }
                $0.saveRefused()
            }
        }
    }

    /// One commit for each ticket: a change that the store never takes must not block the others.
    private func saveRefused() {
        guard let store else { return }
        for changes in saves.takeRefused(ticketCountMax: Self.catchUpCountMax) { hand(changes, to: store) }
    }

    // MARK: Watching

    /// Whether all that was changed about a ticket is on disk.
    package func isSaved(_ id: EntryID) -> Bool { saves.isSaved(id) }

    /// Calls back each time a change of a ticket was saved, or was refused by the store.
    ///
    /// - Returns: The number for `unwatchTicket`.
    package func watchTicket(_ id: EntryID, _ notify: @escaping @Sendable () -> Void) -> Int {
        watchers.add(notify, for: id)
    }

    package func unwatchTicket(_ id: EntryID, _ number: Int) { watchers.remove(number, for: id) }

    /// Waits until what was changed about a ticket is on disk.
    ///
    /// - Returns: False if the store refused it; it is handed in again later.
    package func waitUntilSaved(_ id: EntryID) async -> Bool {
        // A refused change may be with the store again.
        // mutant: cancel-told-early
        while saves.isPending(id) { await waitForStore() }
        return saves.isSaved(id)
    }

    /// Waits until the store has committed or refused all that was posted so far.
    package func waitForStore() async {
        guard let store else { return }
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            store.commit([]) { _ in continuation.resume() }
        }
    }
}
