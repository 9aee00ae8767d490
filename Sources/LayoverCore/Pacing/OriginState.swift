import Retry

/// All that waits for one origin, and the origin's gate.
struct OriginState: Sendable {
    /// Order among entries that may go: the lower priority number first, then the older one.
    struct DispatchOrder: Comparable, Sendable {
        /// Goes before all priorities: the command of a person outranks them.
        var isAskedFor = false
        var priority: Int
        var sequence: Int

        init(of entry: Entry, isAskedFor: Bool) {
            self.isAskedFor = isAskedFor
            priority = entry.priority
            sequence = entry.sequence
        }

        static func < (lhs: Self, rhs: Self) -> Bool {
            (lhs.rank, lhs.sequence) < (rhs.rank, rhs.sequence)
        }

        private var rank: Int { isAskedFor ? -1 : priority }
    }

    var gate: OriginGate
    /// Live entries, whatever their state.
    private(set) var entryCount = 0
    /// Those of them whose clients wait for a short time only.
    private(set) var shortHoldCount = 0
    /// Replays under way.
    private(set) var underWay = 0
    /// Those of them whose bodies are big.
    private(set) var bigUnderWay = 0
    /// Fresh attempts under way, as far as the loops reported them.
    private(set) var freshUnderWay = 0
    /// Entries that something said may go, but for big ones.
    private var eligible = PendingHeap<DispatchOrder, EntryPlace>()
    /// Big ones that something said may go.
    private var bigEligible = PendingHeap<DispatchOrder, EntryPlace>()
    /// Entries that the opening of the gate sets free, by their own due time.
    private var waiting = PendingHeap<Timestamp, EntryPlace>()
    /// Tickets whose turn has come while the store takes no start records, in the order in which they were put aside.
    private(set) var pausedByStore = PendingHeap<Int, EntryPlace>()
    /// What statuses mean for those that retry them, by the name of the policy.
    private(set) var pacings: [String: StatusPacing] = [:]
    /// Pauses that parent proxies asked for, by the requests that they concern.
    private(set) var parentProxyPauses: [ProxiedPolicy: ParentProxyPause] = [:]
    private var lastPause = StatusPacing.PauseNumber.none
    private let windowMax: Int
    /// What the loops were told last.
    fileprivate var notice = OriginNotice.forgotten

    /// A body over this is big. Default: 1 MiB.
    static let bigByteCount = 1 << 20

    fileprivate init(windowMax: Int) {
        self.windowMax = windowMax
        gate = OriginGate(windowMax: windowMax)
    }

    /// Places in the fullest heap, those of entries that are gone included.
    var placeCount: Int {
        let putAside = pacings.values.map(\.putAsideCount) + parentProxyPauses.values.map(\.putAsideCount)
        return putAside.reduce(max(waiting.count, eligible.count, bigEligible.count, pausedByStore.count)) { max($0, $1) }
    }

    /// How many big bodies may be under way at once: half of the window, and always one.
    private var bigCountMax: Int { gate.isShut ? 1 : max(1, gate.window / 2) }

    /// Whether one of the waiting entries may start.
    func admits(now: Timestamp) -> Bool {
        entryCount > underWay && gate.admits(underWay: underWay, freshUnderWay: freshUnderWay, now: now)
    }

    // MARK: Entries and their attempts

    mutating func joined(_ policy: Policy) {
        joinedThrough(policy)
        if policy.retryOn.hasStatus { changePacing(of: policy.name) { $0.joined() } }
    }

    /// An entry goes to its origin through this one, a parent proxy.
    mutating func joinedThrough(_ policy: Policy) {
        entryCount += 1
        if policy.isShortHold { shortHoldCount += 1 }
    }

    mutating func leftThrough(_ policy: Policy) {
        entryCount -= 1
        if policy.isShortHold { shortHoldCount -= 1 }
    }

    mutating func left(_ policy: Policy) {
        leftThrough(policy)
        if policy.retryOn.hasStatus { changePacing(of: policy.name) { $0.left() } }
    }

    /// The longest delay between canaries for an origin that is near, or for which clients wait that do so for a short time only.
    /// Default: 1 s.
    static let nearCanaryDelayMax: Duration = .seconds(1)

    // mutant: patient-canary
    func canaryDelayMax(_ origin: Origin) -> Duration? { origin.isNear || shortHoldCount > 0 ? Self.nearCanaryDelayMax : nil }

    mutating func started(_ entry: Entry) {
        underWay += 1
        if entry.isBig { bigUnderWay += 1 }
    }

    /// The body of what is under way turned out to be big.
    mutating func grewBig() { bigUnderWay += 1 }

    /// The attempt of an entry ends.
    mutating func stopped(_ entry: Entry) {
        underWay -= 1
        if entry.isBig { bigUnderWay -= 1 }
        changePause(of: entry) { $0.stopped($1) }
    }

    /// Fresh attempts began or ended.
    mutating func freshChanged(by difference: Int) {
        freshUnderWay = max(0, freshUnderWay + difference)
        if difference > 0 { for name in pacings.keys { pacings[name]?.operationStarted() } }
    }

    // MARK: Places

    /// An entry may go as soon as there is room.
    mutating func addEligible(_ place: EntryPlace, of entry: Entry, isAskedFor: Bool) {
        let order = DispatchOrder(of: entry, isAskedFor: isAskedFor)
        if entry.isBig { bigEligible.push(place, key: order) } else { eligible.push(place, key: order) }
    }

    /// An entry goes when the gate opens.
    mutating func addWaiting(_ place: EntryPlace, dueAt: Timestamp) { waiting.push(place, key: dueAt) }

    mutating func addPausedByStore(_ place: EntryPlace, order: Int) { pausedByStore.push(place, key: order) }

    /// Takes out the next entry that may start: the first eligible one. While big bodies have used up their room, it is the first with a
    /// small body. Behind a shut gate without such an entry, it is the first that waits for the gate.
    mutating func popNext() -> EntryPlace? {
        if let big = bigEligible.first, bigUnderWay < bigCountMax, eligible.first.map({ big.key < $0.key }) ?? true {
            return bigEligible.popFirst()?.value
        }
        return eligible.popFirst()?.value ?? (gate.isShut ? waiting.popFirst()?.value : nil)
    }

    /// Takes out all that waits for the gate.
    mutating func popWaiting() -> [EntryPlace] { waiting.popAll() }

    /// Takes out the ticket that was put aside first.
    mutating func popPausedByStore() -> EntryPlace? { pausedByStore.popFirst()?.value }

    mutating func popAllPausedByStore() -> [EntryPlace] { pausedByStore.popAll() }

    /// Places of each kind that are looked at for each new one. Default: 8.
    private static let looksPerPlace = 8

    /// Behind a gate that stays shut, places of entries that are gone would pile up.
    mutating func dropStalePlaces(isCurrent: (EntryPlace) -> Bool) {
        guard placeCount > 100 + entryCount + entryCount / 2 else { return }
        // A few for each new place, so that all of them need hardly ever be looked at in one step.
        waiting.removeSome(Self.looksPerPlace) { !isCurrent($1) }
        eligible.removeSome(Self.looksPerPlace) { !isCurrent($1) }
        bigEligible.removeSome(Self.looksPerPlace) { !isCurrent($1) }
        pausedByStore.removeSome(Self.looksPerPlace) { !isCurrent($1) }
        guard placeCount > 100 + 2 * entryCount else { return }
        waiting.removeAll { !isCurrent($1) }
        eligible.removeAll { !isCurrent($1) }
        bigEligible.removeAll { !isCurrent($1) }
        pausedByStore.removeAll { !isCurrent($1) }
        for name in pacings.keys { pacings[name]?.dropStale(isCurrent: isCurrent) }
        for key in parentProxyPauses.keys { parentProxyPauses[key]?.dropStale(isCurrent: isCurrent) }
    }

    // MARK: Statuses

    /// What statuses mean for the requests of a policy.
    mutating func changePacing<Value>(of policy: String, _ work: (inout StatusPacing) -> Value) -> Value {
        var pacing = pacings[policy] ?? StatusPacing(windowMax: windowMax)
        let value = work(&pacing)
        pacings[policy] = pacing.isIdle ? nil : pacing
        return value
    }

    /// Whether a pause or the budget keeps an entry from its turn.
    func putsAside(_ entry: Entry, now: Timestamp) -> Bool {
        pacings[entry.policy.name]?.putsAside(entry, now: now) == true || parentProxyPause(of: entry)?.isPaused(entry, now: now) == true
    }

    /// The pause of the parent proxy through which an entry goes. Nil: there is none.
    private func parentProxyPause(of entry: Entry) -> ParentProxyPause? {
        guard !parentProxyPauses.isEmpty, let key = ProxiedPolicy(of: entry) else { return nil }
        return parentProxyPauses[key]
    }

    /// End of the pauses that stop an entry. Nil: no pause stops it.
    func pauseEnd(of entry: Entry, now: Timestamp) -> Timestamp? {
        let pacing = pacings[entry.policy.name].flatMap { $0.isPaused(entry, now: now) ? $0.pause?.end : nil }
        let above = parentProxyPause(of: entry).flatMap { $0.isPaused(entry, now: now) ? $0.end : nil }
        return [pacing, above].compactMap(\.self).max()
    }

    /// The end of the pauses that concern requests like this one. Nil: there are none.
    func lastPauseEnd(of entry: Entry) -> Timestamp? {
        [pacings[entry.policy.name]?.pause?.end, parentProxyPause(of: entry)?.end].compactMap(\.self).max()
    }

    mutating func putAside(_ place: EntryPlace, of entry: Entry, now: Timestamp) {
        let order = DispatchOrder(of: entry, isAskedFor: entry.isAttemptAskedFor)
        // An entry that the pacing of its policy does not stop is stopped by the pause of its parent proxy.
        if pacings[entry.policy.name]?.putsAside(entry, now: now) != true, let key = ProxiedPolicy(of: entry) {
            parentProxyPauses[key]?.putAside(place, order: order)
        } else {
            changePacing(of: entry.policy.name) { $0.putAside(place, of: entry, order: order) }
        }
    }

    /// Takes out what was put aside and may go now.
    mutating func takePutAside(now: Timestamp, current: (EntryPlace) -> Entry?) -> [EntryPlace] {
        var places = pacings.keys.sorted().flatMap { name in changePacing(of: name) { $0.takePutAside(now: now, current: current) } }
        for place in endParentProxyPauses(now: now) where current(place) != nil { places.append(place) }
        return places
    }

    /// Forgets the pauses of parent proxies that are over.
    ///
    /// - Returns: The entries that these pauses stopped.
    private mutating func endParentProxyPauses(now: Timestamp) -> [EntryPlace] {
        let ended = parentProxyPauses.filter { $0.value.end <= now }
        var places: [EntryPlace] = []
        for key in ended.keys.sorted(by: ProxiedPolicy.isBefore) {
            if var pause = parentProxyPauses.removeValue(forKey: key) { places += pause.takePutAside() }
        }
        return places
    }

    /// Whether statuses or pauses may keep entries from their turn.
    var withholds: Bool { !pacings.isEmpty || !parentProxyPauses.isEmpty }

    /// The notice about the requests that a pause holds up. Nil: there is no pause.
    var pauseNotice: OriginNotice? {
        let policies = Set(pacings.filter { $0.value.pause != nil }.keys)
        guard !policies.isEmpty || !parentProxyPauses.isEmpty else { return nil }
        return .paused(policies, through: Set(parentProxyPauses.keys))
    }

    /// The origin asks the requests of a policy to stay away until a time.
    ///
    /// - Parameter gate: Gate of the parent proxy that asked for the pause. Nil: the origin asked for it.
    mutating func pause(_ policy: Policy, through gate: Origin?, until end: Timestamp, now: Timestamp) {
        if let gate {
            let key = ProxiedPolicy(policy: policy.name, gate: gate)
            return parentProxyPauses[key, default: ParentProxyPause(from: now, until: end)].extend(to: end)
        }
        let number = lastPause.next
        lastPause = number
        changePacing(of: policy.name) { $0.pause(until: end, number: number, now: now) }
    }

    /// An attempt of the policy got a response: the pause that its parent proxy asked for may be over.
    mutating func answered(_ attempt: Entry.Attempt, of policy: Policy, now: Timestamp) {
        guard !parentProxyPauses.isEmpty, let gate = attempt.parentProxyGate else { return }
        parentProxyPauses[ProxiedPolicy(policy: policy.name, gate: gate)]?.answered(attempt, now: now)
    }

    /// - Returns: The pause that an attempt of the policy begins in.
    mutating func attemptStarts(of policy: Policy) -> StatusPacing.PauseNumber {
        pacings[policy.name]?.pause == nil ? .none : changePacing(of: policy.name) { $0.started() }
    }

    /// Changes the pause in which the attempt of an entry began. A reload may have given the entry another policy since.
    mutating func changePause(of entry: Entry, _ work: (inout StatusPacing, StatusPacing.PauseNumber) -> Void) {
        guard let number = entry.attempt?.pause, number != .none else { return }
        for (name, pacing) in pacings where pacing.pause?.number == number { changePacing(of: name) { work(&$0, number) } }
    }

    /// Pays for the retry of a status.
    ///
    /// - Returns: False if the retry must not be made. The grant is nil if the policy has no budget.
    mutating func pay(for policy: Policy) -> (isPaid: Bool, grant: RetryBudget.Grant?) {
        changePacing(of: policy.name) { $0.pay(policy.budget) }
    }

    /// Pays for the retry of a status, or takes note that the retry pays when it goes: what waits must not take what others could use.
    ///
    /// - Returns: False if the retry must not be made.
    mutating func payRetry(of entry: inout Entry, after wait: Duration) -> Bool {
        guard let budget = entry.policy.budget else { return true }
        if budget.whenSpent == .deliver {
            let payment = pay(for: entry.policy)
            entry.grant = payment.grant
            return payment.isPaid
        }
        entry.owesBudget = wait == .zero
        if entry.owesBudget { openBudget(of: entry.policy) }
        return true
    }

    mutating func openBudget(of policy: Policy) {
        if let budget = policy.budget { changePacing(of: policy.name) { $0.openBudget(budget) } }
    }

    mutating func end(_ grant: RetryBudget.Grant, of policy: Policy, wasMade: Bool) {
        pacings[policy.name]?.end(grant, wasMade: wasMade)
    }
}

/// The origins that entries wait for, or whose gate is shut.
struct Origins: Sendable {
    private(set) var states: [Origin: OriginState] = [:]
    /// Origins on this machine that entries wait for behind a shut gate.
    private(set) var awaitedOnThisMachine: Set<Origin> = []
    private let windowMax: Int
    private let rememberedCountMax: Int

    init(_ limits: PendingLimits) {
        windowMax = limits.perOriginAttemptCountMax
        rememberedCountMax = limits.rememberedOriginCountMax
    }

    /// An origin that is not known yet begins with an open gate.
    subscript(origin: Origin) -> OriginState {
        get { states[origin] ?? OriginState(windowMax: windowMax) }
        _modify { yield &states[origin, default: OriginState(windowMax: windowMax)] }
    }

    func isKnown(_ origin: Origin) -> Bool { states[origin] != nil }
    func isShut(_ origin: Origin) -> Bool { states[origin]?.gate.isShut ?? false }
    /// When the next canary may go by itself; nil while the gate is open.
    func canaryAt(_ origin: Origin) -> Timestamp? { states[origin]?.gate.canaryAt }
    /// End of the pauses that stop an entry. Nil: no pause stops it.
    func pauseEnd(of entry: Entry, now: Timestamp) -> Timestamp? { states[entry.origin]?.pauseEnd(of: entry, now: now) }
    /// Whether a pause ends at this time.
    func pauseEnds(_ origin: Origin, at time: Timestamp) -> Bool {
        guard let state = states[origin] else { return false }
        return state.pacings.values.contains { $0.pause?.end == time } || state.parentProxyPauses.values.contains { $0.end == time }
    }
    /// Whether a parent proxy lets an entry go.
    func admitsThrough(_ gate: Origin, now: Timestamp) -> Bool {
        guard let state = states[gate] else { return true }
        if state.gate.isShut { return state.gate.admits(underWay: state.underWay, freshUnderWay: 0, now: now) }
        return state.gate.isFullyOpen || state.underWay < state.gate.window
    }

    /// The gate that keeps an entry: that of its parent proxy before that of its origin. Nil: none does.
    func shutGate(before entry: Entry) -> Origin? {
        if let gate = entry.parentProxyGate, isShut(gate) { return gate }
        return isShut(entry.origin) ? entry.origin : nil
    }

    /// Whether no attempt is under way that tests the shut gates before an entry.
    func isUntried(_ entry: Entry) -> Bool {
        if let gate = entry.parentProxyGate, isShut(gate), self[gate].underWay > 0 { return false }
        return !isShut(entry.origin) || self[entry.origin].underWay == 0
    }

    var shut: [Origin] { states.filter { $0.value.gate.isShut }.map(\.key) }
    var inOrder: [Origin] { states.keys.sorted(by: Origin.isBefore) }

    /// The origin whose gate lets one go, and which has the ticket that the store has kept longest.
    func longestPausedByStore(now: Timestamp) -> Origin? {
        var first: (origin: Origin, order: Int)?
        for (origin, state) in states {
            guard let order = state.pausedByStore.first?.key, order < first?.order ?? .max, state.admits(now: now) else { continue }
            first = (origin, order)
        }
        return first?.origin
    }

    private mutating func noteAwaited(_ origin: Origin) {
        guard origin.isLoopback else { return }
        let isAwaited = states[origin].map { $0.gate.isShut && $0.entryCount > 0 } ?? false
        if isAwaited { awaitedOnThisMachine.insert(origin) } else { awaitedOnThisMachine.remove(origin) }
    }

    /// What the loops are to know of an origin, if that is new; one that is well and without entries is forgotten.
    mutating func notice(of origin: Origin) -> OriginNotice? {
        noteAwaited(origin)
        guard let state = states[origin] else { return nil }
        let isWorthRemembering = state.entryCount > 0 || states.count <= rememberedCountMax
        let notice: OriginNotice =
            if state.gate.isShut, isWorthRemembering {
                .shut
            } else if isWorthRemembering, let paused = state.pauseNotice {
                paused
            } else {
                state.entryCount > 0 ? .watched : .forgotten
            }
        states[origin]?.notice = notice
        if notice == .forgotten, state.underWay == 0 { states[origin] = nil }
        return notice == state.notice ? nil : notice
    }
}
