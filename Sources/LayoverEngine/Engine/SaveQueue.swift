import LayoverCore

/// Changes of tickets on their way to the store.
///
/// A fact touches tickets; at its end each touched ticket becomes one change, which is handed to the store (`pending`). A
/// change that the store refuses is kept (`refused`) and handed in again until it is saved.
struct SaveQueue {
    /// Pause before refused changes are handed in again. Default: 1 s.
    private static let pauseMin: Duration = .seconds(1)
    /// Longest pause before refused changes are handed in again. It doubles with each try after a failure of kind `corrupt`, `io` or
    /// `other`: a damaged page does not recover, and each try costs the changes in its commit a second transaction. Default: 1 minute.
    private static let pauseMax: Duration = .seconds(60)

    /// Tickets that the current fact has changed, each once, in order.
    private(set) var touched: [EntryID] = []
    private var touchedOnce: Set<EntryID> = []
    /// Responses that are saved together with the end of their ticket.
    var responses: [EntryID: StoredResponse] = [:]
    /// Tickets whose idempotency key is forgotten together with their end: no client was ever told of them.
    var neverAnnounced: Set<EntryID> = []
    /// Why the store refused the newest change. Nil: every change is saved.
    private(set) var failure: StoreFailure?
    private var pause = pauseMin
    private var isPausing = false
    private(set) var watchers = TicketWatchers()
    /// Changes that the store refused, by ticket, the oldest first.
    private(set) var refused: [EntryID: [StoreChange]] = [:]
    /// How many changes of a ticket are with the store.
    private var pending: [EntryID: Int] = [:]

    mutating func touch(_ id: EntryID) {
        if touchedOnce.insert(id).inserted { touched.append(id) }
    }

    func isTouched(_ id: EntryID) -> Bool { touchedOnce.contains(id) }

    mutating func takeTouched() -> [EntryID] {
        defer {
            touched = []
            touchedOnce = []
        }
        return touched
    }

    // MARK: With the store

    func isPending(_ id: EntryID) -> Bool { pending[id] != nil }

    /// Whether all that was changed about a ticket is on disk.
    func isSaved(_ id: EntryID) -> Bool { !isPending(id) && refused[id] == nil }

    mutating func handed(_ changes: [(EntryID, StoreChange)]) {
        for (id, _) in changes { pending[id, default: 0] += 1 }
    }

    /// The store has taken or refused changes.
    mutating func finished(_ changes: [(EntryID, StoreChange)]) {
        for (id, _) in changes {
            let count = (pending[id] ?? 1) - 1
            pending[id] = count == 0 ? nil : count
        }
    }

    mutating func watch(_ id: EntryID, _ notify: @escaping @Sendable () -> Void) -> Int { watchers.add(notify, for: id) }

    mutating func unwatch(_ id: EntryID, _ number: Int) { watchers.remove(number, for: id) }

    // MARK: Refused changes

    /// The store took changes.
    ///
    /// - Returns: Whether those that it refused before are to be handed in now.
    mutating func storeTook() -> Bool {
        guard refused.isEmpty else { return pause == Self.pauseMin }
        failure = nil
        pause = Self.pauseMin
        return false
    }

    /// The store refused changes. They are kept and handed in again.
    ///
    /// - Returns: The pause after which that is done. Nil: a pause is under way.
    mutating func storeRefused(_ changes: [(EntryID, StoreChange)], _ failure: StoreFailure) -> Duration? {
        self.failure = failure
        for (id, change) in changes { keep(change, of: id) }
        guard !isPausing else { return nil }
        isPausing = true
        return pause
    }

    mutating func pauseEnded() {
        isPausing = false
        switch failure?.kind {
        case .corrupt, .io, .other: pause = min(pause * 2, Self.pauseMax)
        case .full, .readOnly, .locked, .closed, nil: pause = Self.pauseMin
        }
    }

    /// Keeps a change that has to be handed in again.
    private mutating func keep(_ change: StoreChange, of id: EntryID) {
        // Of two updates the newer one contains the older; a response, or that it was dropped, is in no other change.
        if case .update = change, case .update? = refused[id]?.last { refused[id]?.removeLast() }
        refused[id, default: []].append(change)
    }

    mutating func takeRefused(of id: EntryID) -> [(EntryID, StoreChange)] {
        (refused.removeValue(forKey: id) ?? []).map { (id, $0) }
    }

    /// The refused changes of some tickets, ticket by ticket.
    mutating func takeRefused(ticketCountMax: Int) -> [[(EntryID, StoreChange)]] {
        // Sorted by id: the order of a dictionary must not be visible from outside.
        let ids = refused.keys.prefix(ticketCountMax).sorted { $0.isBefore($1) }
        return ids.map { takeRefused(of: $0) }
    }
}

/// Callbacks for tickets: called when a change of the ticket was saved, or refused by the store.
struct TicketWatchers {
    private var callbacks: [EntryID: [Int: @Sendable () -> Void]] = [:]
    private var lastNumber = 0

    var isEmpty: Bool { callbacks.isEmpty }

    /// - Returns: The number under which the callback is removed.
    mutating func add(_ callback: @escaping @Sendable () -> Void, for id: EntryID) -> Int {
        lastNumber += 1
        callbacks[id, default: [:]][lastNumber] = callback
        return lastNumber
    }

    mutating func remove(_ number: Int, for id: EntryID) {
        callbacks[id]?[number] = nil
        if callbacks[id]?.isEmpty == true { callbacks[id] = nil }
    }

    /// In the order in which they were added.
    func notify(about id: EntryID) {
        guard let added = callbacks[id] else { return }
        for (_, callback) in added.sorted(by: { $0.key < $1.key }) { callback() }
    }
}
