package import LayoverCore
import Logging
import NIOCore

/// Changes of tickets on their way to the store (`SaveQueue`), and waiting for them.
extension Engine {
    /// Most tickets whose refused changes are handed in at once. Default: 1 000.
    private static let catchUpCountMax = 1000

    /// At the end of a fact: the changes of the tickets that it touched.
    func saveTouched() {
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
            if saves.storeTook() { saveRefused() }
            storeTook()
        case .failure(let failure):
            reporter.storeFailed()
            // The store itself logs the beginning and the end of a failure; this line comes once a second.
            logger.debug(
                "saving to the store failed; retrying",
                metadata: ["error": "\(failure)", "tickets": "\(changes.count)"])
            if let pause = saves.storeRefused(changes, failure) { saveRefused(after: pause) }
        }
        for (id, _) in changes { saves.watchers.notify(about: id) }
    }

    private func saveRefused(after pause: Duration) {
        eventLoop.scheduleTask(in: .nanoseconds(pause.nanosecondsSaturating)) {
            self.assumeIsolated {
                $0.saves.pauseEnded()
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
        saves.watch(id, notify)
    }

    package func unwatchTicket(_ id: EntryID, _ number: Int) { saves.unwatch(id, number) }

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

    // MARK: Status

    /// Nil where there is no store, and so no tickets.
    package func storeStatus() -> StoreStatus? {
        store.map { store in
            StoreStatus(
                condition: store.condition, unsavedCount: saves.refused.count,
                acceptedCount: reporter.totals.acceptedCount, failureCount: reporter.totals.storeFailureCount,
                history: history.duration)
        }
    }

    // MARK: Old tickets

    /// How often old tickets are removed. Default: 1 minute.
    private static let historyInterval: TimeAmount = .minutes(1)
    /// Most tickets removed in one step, so that other changes do not wait long. Default: 500.
    private static let historyStep = 500

    /// Removes tickets that ended longer ago than that: now, and every minute.
    package func keepHistory(for history: Duration) {
        self.history.duration = history
        removeOld(history)
        saveTime()
        eventLoop.scheduleRepeatedTask(initialDelay: Self.historyInterval, delay: Self.historyInterval) { _ in
            self.assumeIsolated {
                $0.removeOld(history)
                $0.saveTime()
            }
        }
    }

    /// Saves the current time: the time between the last saved one and the next boot of the machine was not measured.
    private func saveTime() {
        let now = clock.now()
        guard let store, store.condition.failure == nil, history.savesTime(now: now, isIdle: pending.count == 0) else { return }
        store.commit([.seen(Timestamp(nanoseconds: now.nanoseconds &+ ticketClock.offset))]) { _ in }
    }

    private func removeOld(_ history: Duration) {
        guard let store, self.history.beginRemoval() else { return }
        let before = Timestamp(nanoseconds: clock.now().nanoseconds &+ ticketClock.measuredOffset) + (.zero - history)
        Task {
            do throws(StoreFailure) {
                while try await store.removeEnded(before: before, limit: Self.historyStep) > 0 {}
            } catch {
                self.logger.warning("cannot remove old tickets", metadata: ["error": "\(error)"])
            }
            self.history.removalEnded()
        }
    }
}

/// How long ended tickets are kept, so that their clients find the response, and what the engine has done about it.
struct TicketHistory {
    /// How often the time is saved while no ticket is live. Default: 10 minutes.
    private static let idleTimeInterval: Duration = .seconds(600)

    /// How long ended tickets are kept. Nil: not yet set.
    var duration: Duration?
    /// When the store was last told the time (`StoreChange.seen`).
    private var timeSavedAt: Timestamp?
    private var isRemovingOld = false

    /// - Parameter isIdle: Whether no ticket is live.
    /// - Returns: Whether the time is to be saved now.
    mutating func savesTime(now: Timestamp, isIdle: Bool) -> Bool {
        if isIdle, let timeSavedAt, now - timeSavedAt < Self.idleTimeInterval { return false }
        timeSavedAt = now
        return true
    }

    /// - Returns: False if a removal is under way.
    mutating func beginRemoval() -> Bool {
        guard !isRemovingOld else { return false }
        isRemovingOld = true
        return true
    }

    mutating func removalEnded() { isRemovingOld = false }
}
