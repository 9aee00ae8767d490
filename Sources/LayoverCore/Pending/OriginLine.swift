import Retry

/// All that waits for one origin, and the origin's gate.
struct OriginLine: Sendable {
    /// Order among entries that may go: the lower priority number first, then who came first.
    struct Turn: Comparable, Sendable {
        var priority: Int
        var sequence: Int

        static func < (lhs: Self, rhs: Self) -> Bool {
            (lhs.priority, lhs.sequence) < (rhs.priority, rhs.sequence)
        }
    }

    var gate: OriginGate
    /// Live entries, whatever their state.
    var entryCount = 0
    /// Replays under way.
    var underWay = 0
    /// Those of them whose bodies are big.
    var bigUnderWay = 0
    /// Fresh attempts under way, as far as the loops told.
    var freshUnderWay = 0
    /// Entries that something said may go, but for big ones.
    var eligible = PendingHeap<Turn, EntryPlace>()
    /// Big ones that something said may go.
    var bigEligible = PendingHeap<Turn, EntryPlace>()
    /// Entries that the opening of the gate sets free, by their own due time.
    var blocked = PendingHeap<Timestamp, EntryPlace>()
    /// Tickets whose turn has come while the store takes no marks, in the order in which they were put aside.
    var keptFromStore = PendingHeap<Int, EntryPlace>()
    /// What status retries may still cost, by the name of the policy.
    var budgets: [String: RetryBudget] = [:]
    /// What the loops were told last.
    var notice = OriginNotice.forgotten

    /// A body over this is big. Default: 1 MiB.
    static let bigByteCount = 1 << 20

    /// How many big bodies may be under way at once: half of the window, and always one.
    var bigCountMax: Int { gate.isShut ? 1 : max(1, gate.window / 2) }

    /// Whether one of those that wait may start.
    func admits(now: Timestamp) -> Bool {
        entryCount > underWay && gate.admits(underWay: underWay, freshUnderWay: freshUnderWay, now: now)
    }

    mutating func started(isBig: Bool) {
        underWay += 1
        if isBig { bigUnderWay += 1 }
    }

    /// What is under way turned out to be big.
    mutating func grewBig() { bigUnderWay += 1 }

    mutating func stopped(isBig: Bool) {
        underWay -= 1
        if isBig { bigUnderWay -= 1 }
    }

    /// Takes out whose turn it is: the first of all, or the first small one while big ones have all the room that is
    /// theirs.
    mutating func nextEligible() -> EntryPlace? {
        guard bigUnderWay < bigCountMax, let big = bigEligible.first else { return eligible.popFirst()?.value }
        if let small = eligible.first, small.key < big.key { return eligible.popFirst()?.value }
        return bigEligible.popFirst()?.value
    }

    /// A request to the origin began, as far as anybody told.
    mutating func requestStarted() {
        for name in budgets.keys { budgets[name]?.operationStarted() }
    }

    /// Pays for the retry of a status.
    ///
    /// - Returns: False if the retry must not be made. The grant is nil where nothing bounds it.
    mutating func pay(for policy: Policy) -> (isPaid: Bool, grant: RetryBudget.Grant?) {
        guard let bound = policy.budget else { return (true, nil) }
        var budget = budgets[policy.name] ?? RetryBudget(ratio: bound.ratio, minimum: bound.minimum)
        let grant = budget.retryRequested()
        budgets[policy.name] = budget
        return (grant != nil, grant)
    }

    mutating func end(_ grant: RetryBudget.Grant, of policy: Policy, wasMade: Bool) {
        if wasMade { budgets[policy.name]?.retryEnded(grant) } else { budgets[policy.name]?.retryAbandoned(grant) }
    }
}
