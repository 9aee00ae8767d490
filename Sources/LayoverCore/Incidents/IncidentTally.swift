/// Counters behind the view of an incident. A look at each of a hundred thousand members takes a quarter of a second, and the
/// incident is reported four times a second.
///
/// The table of entries keeps it: each change of an entry counts what differs between its old share and its new one.
struct IncidentTally: Sendable {
    /// The facts of one member that its incident counts.
    struct Share: Sendable, Hashable {
        var incident: IncidentID
        /// Whether it goes on without a person.
        var isAutomatic: Bool
        /// Whether `retry` is allowed.
        var isRetryable: Bool
        /// The gates whose opening ends its wait; nil where that is not so.
        var way: Way?
        var attempts: Attempts
    }

    /// The gates on the way of an entry.
    struct Way: Sendable, Hashable {
        var parentProxyGate: Origin?
        var origin: Origin
    }

    /// Automatic attempts of a member, by its policy and until now. Nil: no limit.
    struct Attempts: Sendable, Hashable {
        var max: Int?
        var left: Int?
        /// Whether a person is asked when none is left.
        var asks: Bool
    }

    private(set) var count = 0
    private var automaticCount = 0
    private var retryableCount = 0
    /// Members whose wait the opening of a gate ends.
    private(set) var ways: [Way: Int] = [:]
    /// All members, by their attempts. There are as many keys as there are limits in use, and numbers below them.
    private var attempts: [Attempts: Int] = [:]
    /// The number of members that go on without a person, by their attempts.
    private var automatic: [Attempts: Int] = [:]

    mutating func add(_ share: Share) {
        change(by: 1, share, differingFrom: nil)
    }

    mutating func remove(_ share: Share) {
        change(by: -1, share, differingFrom: nil)
    }

    /// Counts the difference between the shares of a member before and after a change.
    mutating func change(_ before: Share, to after: Share) {
        change(by: -1, before, differingFrom: after)
        change(by: 1, after, differingFrom: before)
    }

    private mutating func change(by one: Int, _ share: Share, differingFrom other: Share?) {
        if other == nil { count += one }
        if share.isRetryable, other?.isRetryable != true { retryableCount += one }
        if let way = share.way, other?.way != way { Self.change(&ways, by: one, way) }
        let hasOtherAttempts = other?.attempts != share.attempts
        if hasOtherAttempts { Self.change(&attempts, by: one, share.attempts) }
        guard share.isAutomatic, hasOtherAttempts || other?.isAutomatic != true else { return }
        if other?.isAutomatic != true { automaticCount += one }
        Self.change(&automatic, by: one, share.attempts)
    }

    private static func change<Key: Hashable>(_ counts: inout [Key: Int], by one: Int, _ key: Key) {
        let count = counts[key, default: 0] + one
        counts[key] = count == 0 ? nil : count
    }

    // MARK: Views

    /// Whether nothing goes on without a person.
    var isManualOnly: Bool { automaticCount == 0 }
    var hasRetryable: Bool { retryableCount > 0 }

    /// Most attempts that a member has in all; nil when one of them has no limit.
    var attemptsMax: Int? {
        attempts.keys.reduce(Int?.some(0)) { most, key in key.max.flatMap { max in most.map { Swift.max($0, max) } } }
    }

    /// Automatic attempts until nothing goes on without a person; nil when one member has no limit.
    var attemptsLeft: Int? {
        var most = 0
        // Members under `onExhausted: ask` ask together, as soon as one has no attempts left. So the smallest number counts for all.
        var leftBeforeAsking: Int?
        for key in automatic.keys {
            guard let left = key.left else { return nil }
            if key.asks { leftBeforeAsking = min(leftBeforeAsking ?? left, left) } else { most = max(most, left) }
        }
        return max(most, leftBeforeAsking ?? 0)
    }

    // MARK: What it counts

    /// The facts of an entry that its incident counts; nil where the entry is in none.
    static func share(of entry: Entry) -> Share? {
        guard let incident = entry.incident else { return nil }
        var (isAutomatic, isRetryable, isWoken) = (false, true, false)
        switch entry.fullState {
        case .waiting(.blocked): isAutomatic = true
        case .waiting(.eligible): (isAutomatic, isWoken) = (true, true)
        case .waiting(.due): (isAutomatic, isWoken) = (true, entry.waitEnd == .origin && entry.sharedPolicy.wakesOnReachable)
        case .attempting: (isAutomatic, isRetryable) = (true, false)
        case .held: break
        case .undecided(let why): isRetryable = why != .maybeApplied
        case .ended: isRetryable = false
        }
        return Share(
            incident: incident, isAutomatic: isAutomatic, isRetryable: isRetryable,
            way: isWoken ? Way(parentProxyGate: entry.parentProxyGate, origin: entry.origin) : nil,
            attempts: Attempts(
                max: entry.sharedPolicy.attemptsMax, left: entry.automaticLeft, asks: entry.sharedPolicy.asksWhenExhausted))
    }
}
