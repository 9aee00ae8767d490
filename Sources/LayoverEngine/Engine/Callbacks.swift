import LayoverCore

/// What a call of the engine waits for, up to a limit.
enum AwaitedEnd: Hashable, Sendable {
    /// The attempt of an entry is over.
    case attempt(EntryID)
    /// Each entry has found its route after a reload.
    case rerouting
}

/// Callbacks of those who wait for something about an entry, or about another thing with a key, each under a number.
struct Callbacks<Key: Hashable & Sendable>: Sendable {
    private var callbacks: [Key: [Int: @Sendable () -> Void]] = [:]
    private var lastNumber = 0

    var isEmpty: Bool { callbacks.isEmpty }
    /// In no order.
    var keys: [Key] { Array(callbacks.keys) }

    /// - Returns: The number under which the callback is removed.
    mutating func add(_ callback: @escaping @Sendable () -> Void, for key: Key) -> Int {
        lastNumber += 1
        callbacks[key, default: [:]][lastNumber] = callback
        return lastNumber
    }

    /// - Returns: The callback; nil: it was removed before.
    @discardableResult
    mutating func remove(_ number: Int, for key: Key) -> (@Sendable () -> Void)? {
        defer { if callbacks[key]?.isEmpty == true { callbacks[key] = nil } }
        return callbacks[key]?.removeValue(forKey: number)
    }

    /// In the order in which they were added.
    func call(about key: Key) {
        guard let added = callbacks[key] else { return }
        for (_, callback) in added.sorted(by: { $0.key < $1.key }) { callback() }
    }

    /// As `call`, and removes them.
    mutating func callOnce(about key: Key) {
        call(about: key)
        callbacks[key] = nil
    }
}
