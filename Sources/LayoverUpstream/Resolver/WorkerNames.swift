import LayoverCore

/// The names of one worker: answers that it may use without asking anybody, and the attempts that wait.
///
/// Confined to the worker's thread.
struct WorkerNames {
    /// Most origins that are remembered here; the resolver has their addresses too.
    private static let givenCountMax = 1024

    /// Answers to older questions are of another network.
    private(set) var since: UInt64 = 0
    /// Answers that the current multi handle was given.
    private var given: [Origin: NameAnswer] = [:]
    /// Slots of the transfers that wait, by name.
    private var waiting: [String: Set<Int>] = [:]
    /// Names that nobody waits for any more, of which the resolver has not been told.
    private var withdrawn: Set<String> = []

    var waitingNames: [String] { Array(waiting.keys) }

    /// The network changed: nothing that is known counts any more. Those who wait go on waiting.
    mutating func networkChanged(at time: UInt64) {
        since = max(since, time)
        given.removeAll(keepingCapacity: true)
    }

    // MARK: Answers

    /// Whether libcurl has addresses that may still be used.
    func isGiven(_ origin: Origin, now: UInt64) -> Bool {
        given[origin]?.isUsable(notBefore: since, now: now) == true
    }

    mutating func noteGiven(_ answer: NameAnswer, to origin: Origin) {
        if given.count >= Self.givenCountMax { given.removeAll(keepingCapacity: true) }
        given[origin] = answer
    }

    /// - Returns: The answer that it had.
    @discardableResult
    mutating func forget(_ origin: Origin) -> NameAnswer? { given.removeValue(forKey: origin) }

    // MARK: Waiting

    /// - Returns: Whether it is the first to wait for the name, so that somebody must be asked.
    mutating func wait(for name: String, slot: Int) -> Bool {
        withdrawn.remove(name)
        waiting[name, default: []].insert(slot)
        return waiting[name]?.count == 1
    }

    mutating func stopWaiting(for name: String, slot: Int) {
        guard waiting[name]?.remove(slot) != nil, waiting[name]?.isEmpty == true else { return }
        waiting[name] = nil
        withdrawn.insert(name)
    }

    /// What the resolver is to be told at the end of the turn.
    mutating func takeWithdrawn() -> Set<String> {
        if withdrawn.isEmpty { return [] }
        defer { withdrawn = [] }
        return withdrawn
    }

    /// Ends the waiting of all for a name.
    mutating func takeWaiting(for name: String) -> Set<Int> { waiting.removeValue(forKey: name) ?? [] }
}
