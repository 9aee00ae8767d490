import LayoverCore

/// Those who wait for the end of an attempt that is being aborted.
struct AbortWaiters {
    private var waiting: [Int: (id: EntryID, continuation: CheckedContinuation<Void, Never>)] = [:]
    private var lastNumber = 0

    var isEmpty: Bool { waiting.isEmpty }

    /// - Returns: The number for `end`.
    mutating func add(_ continuation: CheckedContinuation<Void, Never>, for id: EntryID) -> Int {
        lastNumber += 1
        waiting[lastNumber] = (id, continuation)
        return lastNumber
    }

    /// Ends one wait; later calls do nothing.
    mutating func end(_ number: Int) { waiting.removeValue(forKey: number)?.continuation.resume() }

    /// Ends the waits for attempts that are over.
    mutating func end(where isOver: (EntryID) -> Bool) {
        for (number, waiter) in waiting where isOver(waiter.id) { end(number) }
    }
}
