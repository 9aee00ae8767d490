import LayoverCore

/// Changes of tickets on their way to the store.
///
/// A fact touches tickets; at its end each touched ticket becomes one change, which is handed to the store (`pending`). A
/// change that the store refuses is kept (`refused`) and handed in again until it is saved.
struct SaveQueue {
    /// Tickets that the current fact has changed, each once, in order.
    private(set) var touched: [EntryID] = []
    private var touchedOnce: Set<EntryID> = []
    /// Responses that are saved together with the end of their ticket.
    var responses: [EntryID: StoredResponse] = [:]
    /// Tickets whose idempotency key is forgotten together with their end: no client was ever told of them.
    var neverAnnounced: Set<EntryID> = []
    /// Why the store refused the newest change; nil when every change is saved.
    var failure: StoreFailure?
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

    mutating func finished(_ changes: [(EntryID, StoreChange)]) {
        for (id, _) in changes {
            let count = (pending[id] ?? 1) - 1
            pending[id] = count == 0 ? nil : count
        }
    }

    // MARK: Refused changes

    /// Keeps a change that has to be handed in again.
    mutating func keep(_ change: StoreChange, of id: EntryID) {
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
