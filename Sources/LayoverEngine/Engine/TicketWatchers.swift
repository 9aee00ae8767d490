import LayoverCore

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
