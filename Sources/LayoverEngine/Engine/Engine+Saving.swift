package import LayoverCore
import Logging
import NIOCore

/// What changes about tickets, on its way to the disk.
extension Engine {
    /// How long after a failed commit the next one is tried. Default: 1 s.
    private static let savingDelay: TimeAmount = .seconds(1)
    /// Changes that are handed to the store at once after it failed. Default: 1 000.
    private static let catchUpCountMax = 1000

    /// At the end of each fact: what it changed about tickets is handed to the store, in this order.
    func finishFact() {
        saveTouched()
        let starts = tickets.starts
        tickets.starts = []
        for (id, trigger) in starts { replay(id, trigger) }
        armTimer()
    }

    private func saveTouched() {
        guard !tickets.touched.isEmpty else { return }
        let ids = tickets.takeTouched()
        var changes: [(EntryID, StoreChange)] = []
        for id in ids {
            guard let record = pending.record(of: id)?.shifted(by: tickets.clock) else { continue }
            if let answer = tickets.answers.removeValue(forKey: id) {
                changes.append((id, .delivered(record, answer)))
            } else {
                changes.append((id, .update(record)))
            }
            // Together with its end: there is no moment at which it is neither live nor forgotten.
            if record.state.isFinal, tickets.untold.remove(id) != nil { changes.append((id, .unmark(id))) }
        }
        save(changes)
    }

    /// What the attempt of a ticket proved that its end has cut off. Its row is final, and only learns.
    func saveEvidence(of id: EntryID) {
        guard let record = pending.record(of: id), record.state.isFinal else { return }
        save([(id, .learned(record.shifted(by: tickets.clock)))])
    }

    func save(_ new: [(EntryID, StoreChange)]) {
        guard let store, !new.isEmpty else { return }
        var changes: [(EntryID, StoreChange)] = []
        changes.reserveCapacity(new.count)
        for (id, change) in new {
            // What waits for another try comes first: the store knows by the revision what is too old.
            for older in tickets.unsaved.removeValue(forKey: id) ?? [] { changes.append((id, older)) }
            changes.append((id, change))
        }
        hand(changes, to: store)
    }

    /// What the disk would not take of a ticket, for whoever hands it in once more and says `saved` then.
    func takeUnsaved(of id: EntryID) -> [(EntryID, StoreChange)] {
        let changes = (tickets.unsaved.removeValue(forKey: id) ?? []).map { (id, $0) }
        if !changes.isEmpty { tickets.pendingSaves[id, default: 0] += changes.count }
        return changes
    }

    private func hand(_ changes: [(EntryID, StoreChange)], to store: any PendingStore) {
        for (id, _) in changes { tickets.pendingSaves[id, default: 0] += 1 }
        store.commit(changes.map(\.1)) { result in
            self.eventLoop.execute { self.assumeIsolated { $0.saved(changes, result) } }
        }
    }

    func saved(
        _ changes: [(EntryID, StoreChange)], _ result: Result<[StoreResult], StoreFailure>
    ) {
        for (id, _) in changes {
            let count = (tickets.pendingSaves[id] ?? 1) - 1
            tickets.pendingSaves[id] = count == 0 ? nil : count
        }
        switch result {
        case .success(let results):
            for (index, (id, change)) in changes.enumerated() where results[index] == .stale {
                // A ticket whose insertion failed leaves nothing to change.
                logger.debug("no row for the change", metadata: ["ticket": "\(naming.shown(id))", "change": "\(change.name)"])
            }
            if tickets.unsaved.isEmpty { tickets.savingFailure = nil } else { saveUnsaved() }
            storeTook()
        case .failure(let failure):
            totals.storeFailureCount += 1
            tickets.savingFailure = failure
            // The store says once when this begins and once when it is over; here it would be once a second.
            logger.debug(
                "saving to the store failed; retrying",
                metadata: ["error": "\(failure)", "tickets": "\(changes.count)"])
            for (id, change) in changes { tickets.keep(change, of: id) }
            saveAgainLater()
        }
        for (id, _) in changes { tellWatchers(of: id) }
    }

    private func saveAgainLater() {
        guard !isSavingAgain else { return }
        isSavingAgain = true
        eventLoop.scheduleTask(in: Self.savingDelay) {
            self.assumeIsolated {
                $0.isSavingAgain = false
                $0.saveUnsaved()
            }
        }
    }

    /// Each ticket by itself: what the store would never take of one must not stand in the way of the others.
    private func saveUnsaved() {
        guard let store else { return }
        // By their ids: how a dictionary lies in memory must not be seen from outside.
        for (id, changes) in tickets.unsaved.prefix(Self.catchUpCountMax).sorted(by: { $0.key.isBefore($1.key) }) {
            tickets.unsaved[id] = nil
            hand(changes.map { (id, $0) }, to: store)
        }
    }

    // MARK: Watching

    /// Whether all that was changed about a ticket is on disk.
    package func isSaved(_ id: EntryID) -> Bool {
        tickets.pendingSaves[id] == nil && tickets.unsaved[id] == nil
    }

    /// Has somebody told whenever a change of a ticket has been saved, or was refused by the disk.
    package func watchTicket(_ id: EntryID, _ notify: @escaping @Sendable () -> Void) -> Int {
        tickets.nextWatcher += 1
        tickets.watchers[id, default: [:]][tickets.nextWatcher] = notify
        return tickets.nextWatcher
    }

    package func unwatchTicket(_ id: EntryID, _ number: Int) {
        tickets.watchers[id]?[number] = nil
        if tickets.watchers[id]?.isEmpty == true { tickets.watchers[id] = nil }
    }

    private func tellWatchers(of id: EntryID) {
        guard let watchers = tickets.watchers[id] else { return }
        for (_, notify) in watchers.sorted(by: { $0.key < $1.key }) { notify() }
    }

    /// Waits until what was changed about a ticket is on disk.
    ///
    /// - Returns: False when the disk does not take it; it is tried again then.
    package func settled(_ id: EntryID) async -> Bool {
        // What was refused meanwhile may be under way once more.
        // mutant: cancel-told-early
        while tickets.pendingSaves[id] != nil { await settled() }
        return tickets.unsaved[id] == nil
    }

    /// Waits until all that was posted so far is on disk, or was refused by the disk.
    package func settled() async {
        guard let store else { return }
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            store.commit([]) { _ in continuation.resume() }
        }
    }
}
