import Retry

/// What the statuses of one origin mean for the requests of one policy: until when none of them goes, how many go at once
/// after that, and how many may be asked for again.
///
/// A status that is retried and says when to come back (`Retry-After`) begins a pause. Until its end nothing goes by itself,
/// requests included that were never tried; then one goes as the canary. Its response lets eight go at once, and each response
/// after it one more. A status that does not say when costs the retry budget. What a pause or the budget keeps back waits in
/// `kept` and `owing`, in its order.
/// Contract: section 2, "A busy origin is paused".
struct StatusPacing: Sendable {
    /// Tells a pause from others of the same origin.
    struct PauseNumber: Sendable, Hashable {
        fileprivate var value: UInt32 = 0
        static let none = PauseNumber()
        var next: PauseNumber { PauseNumber(value: value &+ 1) }
    }

    /// A time that the origin asked for, and the careful beginning after it.
    struct Pause: Sendable {
        let number: PauseNumber
        /// Until when nothing goes by itself.
        fileprivate(set) var end: Timestamp
        /// How many attempts may be under way at once after the end.
        fileprivate(set) var window = 1
        /// Attempts under way that began in this pause.
        fileprivate(set) var underWay = 0
    }

    /// Live entries of the policy, whatever their state.
    private(set) var entryCount = 0
    private(set) var pause: Pause?
    /// What status retries may still cost. Nil until the first of them.
    private(set) var budget: RetryBudget?
    /// Entries whose turn has come and which a pause stops.
    private var paused = PendingHeap<OriginState.DispatchOrder, EntryPlace>()
    /// Entries that the budget stops. They stand in the way of no other.
    private var owing = PendingHeap<OriginState.DispatchOrder, EntryPlace>()
    private let windowMax: Int

    init(windowMax: Int) { self.windowMax = windowMax }

    var putAsideCount: Int { paused.count + owing.count }
    /// Whether this pacing says nothing that is not known without it.
    var isIdle: Bool { entryCount == 0 && pause == nil && budget == nil }

    mutating func joined() { entryCount += 1 }
    mutating func left() { entryCount = max(0, entryCount - 1) }

    // MARK: Pauses

    /// The origin asks for a pause until a time. A pause that is not over yet becomes longer.
    ///
    /// If the last pause is over, a new one begins. Attempts that began before the new pause do not show how the origin is after it.
    ///
    /// - Parameter number: That of the pause if a new one begins.
    mutating func pause(until end: Timestamp, number: PauseNumber, now: Timestamp) {
        if var pause, now < pause.end {
            pause.end = max(pause.end, end)
            self.pause = pause
        } else {
            pause = Pause(number: number, end: end)
        }
    }

    /// How many the response to a canary lets go at once. Default: 8.
    private static let widthAfterCanary = 8

    /// Ends the pause once its window is as wide as that of the origin, or nothing waits for it.
    ///
    /// - Returns: Whether one has ended.
    private mutating func endPause(now: Timestamp) -> Bool {
        guard let pause, pause.end <= now, pause.window >= windowMax || entryCount == 0 else { return false }
        self.pause = nil
        return true
    }

    /// Whether a pause keeps an entry from its turn.
    ///
    /// A client that cannot wait until the end of the pause is passed on, and gets what the origin says.
    func isPaused(_ entry: Entry, now: Timestamp) -> Bool {
        guard let pause, entry.canWait(until: pause.end) else { return false }
        // mutant: hammered-pause
        if now < pause.end { return pause.underWay > 0 || !entry.isAttemptAskedFor }
        // mutant: pause-flood
        return pause.underWay >= pause.window
    }

    // MARK: Putting aside

    /// Whether an entry has to wait although its turn has come.
    func putsAside(_ entry: Entry, now: Timestamp) -> Bool { isPaused(entry, now: now) || lacksBudget(for: entry) }

    /// Whether the retry of a status has to wait until others have ended.
    ///
    /// Its own policy says how many may be under way: another of the same name may have the bounds of before a reload.
    ///
    /// - Parameter count: How many others go before it.
    func lacksBudget(for entry: Entry, after count: Int = 0) -> Bool {
        guard entry.owesBudget, !entry.isAttemptAskedFor, let bound = entry.policy.budget else { return false }
        var budget = self.budget ?? RetryBudget(ratio: bound.ratio, minimum: bound.minimum)
        budget.limit(ratio: bound.ratio, minimum: bound.minimum)
        // mutant: boundless
        return budget.availableCount <= count
    }

    mutating func putAside(_ place: EntryPlace, of entry: Entry, order: OriginState.DispatchOrder) {
        if lacksBudget(for: entry) { owing.push(place, key: order) } else { paused.push(place, key: order) }
    }

    /// Takes out as many as may go now, in their order. A pause that is over ends.
    ///
    /// - Parameter current: The entry of a place that is not stale.
    mutating func takePutAside(now: Timestamp, current: (EntryPlace) -> Entry?) -> [EntryPlace] {
        var places: [EntryPlace] = []
        while let (_, place) = owing.first {
            let entry = current(place)
            if let entry, lacksBudget(for: entry, after: places.count) { break }
            _ = owing.popFirst()
            if entry != nil { places.append(place) }
        }
        let paidCount = places.count
        let room = endPause(now: now) ? paused.count : room(now: now)
        while places.count - paidCount < room, let (order, place) = paused.popFirst() {
            guard let entry = current(place) else { continue }
            // Others may have used the budget meanwhile.
            if lacksBudget(for: entry) { owing.push(place, key: order) } else { places.append(place) }
        }
        return places
    }

    private func room(now: Timestamp) -> Int {
        guard let first = paused.first else { return 0 }
        guard let pause else { return paused.count }
        // Only one that a person asked for goes before the end.
        if now < pause.end { return pause.underWay == 0 && first.key.isAskedFor ? 1 : 0 }
        return max(0, pause.window - pause.underWay)
    }

    mutating func dropStale(isCurrent: (EntryPlace) -> Bool) {
        paused.removeAll { !isCurrent($1) }
        owing.removeAll { !isCurrent($1) }
    }

    // MARK: Attempts

    /// - Returns: The pause that the attempt counts in.
    mutating func started() -> PauseNumber {
        pause?.underWay += 1
        return pause?.number ?? .none
    }

    mutating func stopped(_ number: PauseNumber) {
        if pause?.number == number { pause?.underWay -= 1 }
    }

    /// An attempt that began in the pause got a response that is delivered. If a person asked for it before the end, the
    /// origin is well sooner than it said.
    mutating func answered(_ number: PauseNumber, now: Timestamp) {
        guard var pause, pause.number == number else { return }
        pause.end = min(pause.end, now)
        pause.window = min(windowMax, pause.window == 1 ? Self.widthAfterCanary : pause.window + 1)
        self.pause = pause
    }

    /// An attempt that began in the pause got a status once more that is retried.
    mutating func wentWrong(_ number: PauseNumber) {
        guard let pause, pause.number == number else { return }
        self.pause?.window = max(1, pause.window / 2)
    }

    // MARK: The budget

    /// Pays for the retry of a status.
    ///
    /// - Returns: False if the retry must not be made. The grant is nil if there is no budget.
    mutating func pay(_ bound: Policy.Budget?) -> (isPaid: Bool, grant: RetryBudget.Grant?) {
        guard let bound else { return (true, nil) }
        openBudget(bound)
        let grant = budget?.retryRequested()
        return (grant != nil, grant)
    }

    /// Requests that begin from now on add to the budget. A reload may have given it other bounds.
    mutating func openBudget(_ bound: Policy.Budget) {
        if budget == nil {
            budget = RetryBudget(ratio: bound.ratio, minimum: bound.minimum)
        } else {
            budget?.limit(ratio: bound.ratio, minimum: bound.minimum)
        }
    }

    mutating func end(_ grant: RetryBudget.Grant, wasMade: Bool) {
        if wasMade { budget?.retryEnded(grant) } else { budget?.retryAbandoned(grant) }
    }

    mutating func operationStarted() { budget?.operationStarted() }
}

/// A time for which a parent proxy asked for an origin to be left alone (`Retry-After` of its response to CONNECT).
///
/// The pause concerns only requests of one policy that go through that parent proxy. The same failure has shut the gate of the origin, so
/// one canary goes after the end of the pause, and a growing window after the canary.
struct ParentProxyPause: Sendable {
    /// End of the pause. No such request goes before, unless a person asked for the attempt.
    private(set) var end: Timestamp
    /// Beginning of the pause. A response to an earlier attempt does not end the pause.
    private let beganAt: Timestamp
    /// Entries whose turn has come and which the pause stops.
    private var paused = PendingHeap<OriginState.DispatchOrder, EntryPlace>()

    init(from now: Timestamp, until end: Timestamp) { (beganAt, self.end) = (now, end) }

    var putAsideCount: Int { paused.count }

    mutating func extend(to end: Timestamp) { self.end = max(self.end, end) }

    /// An attempt through the parent proxy got a response. If it began in the pause, the way is open sooner than the proxy said.
    mutating func answered(_ attempt: Entry.Attempt, now: Timestamp) {
        if let startedAt = attempt.startedAt, startedAt >= beganAt { end = min(end, now) }
    }

    /// Whether the pause stops an entry that it concerns.
    func isPaused(_ entry: Entry, now: Timestamp) -> Bool { now < end && !entry.isAttemptAskedFor && entry.canWait(until: end) }

    mutating func putAside(_ place: EntryPlace, order: OriginState.DispatchOrder) { paused.push(place, key: order) }

    /// Takes out all entries, in their order.
    mutating func takePutAside() -> [EntryPlace] { paused.popAll() }

    mutating func dropStale(isCurrent: (EntryPlace) -> Bool) { paused.removeAll { !isCurrent($1) } }
}
