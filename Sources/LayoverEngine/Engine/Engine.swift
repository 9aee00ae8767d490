package import LayoverCore
package import Logging
package import NIOCore
import Synchronization

/// Feeds facts to the core's machines and performs their actions.
///
/// One actor on one event loop of its own: facts arrive in the order in which they were posted, a
/// machine is read and written back without an await between, and the requests that need no help never
/// come here.
///
/// The engine has the pending set, the exchanges and the loops. All else is in parts with private state: `NetworkDesk`, `KeyDesk`,
/// `RehearsalDesk`, `TicketSaver`, `TicketHistory`, `Reporter`, `EngineTimer`. What takes several steps of the store is a value with
/// these steps: `TicketAcceptance`, `StartRecording`, `TicketRestoring`. The calls that only read, and the commands that wait until they
/// are on disk, are extensions of `EngineCalls`.
package actor Engine: EngineCalls {
    package nonisolated let eventLoop: any EventLoop
    package nonisolated let clock: any EngineClock
    package nonisolated let startedAt: Timestamp
    package nonisolated let naming: EntryNaming
    package nonisolated let store: (any PendingStore)?
    private nonisolated let claimNumbers = Atomic<Int>(0)
    /// The rehearsals for `RehearsedUpstream`.
    package nonisolated let rehearsalBoard = RehearsalBoard()

    package internal(set) var pending: PendingSet
    /// For the ids of incidents and the delays of gates.
    var jitter: Jitter
    var exchanges: [EntryID: any HeldExchange] = [:]
    /// Attempts of tickets that the current fact asks for. They begin once its changes are on their way to the store.
    var starts: [(id: EntryID, trigger: AttemptTrigger)] = []
    private(set) var loops: [any ExchangeLoop] = []
    /// Loops take tickets in turn.
    private var nextLoop = 0
    private var timer = EngineTimer()
    var network: NetworkDesk
    var reporter: Reporter
    var saver: TicketSaver
    package internal(set) var routes = RouteTable()
    private let abortMax: TimeAmount
    var rerouting: ReroutingChain
    var history: TicketHistory
    private(set) var waits = Callbacks<AwaitedEnd>()
    var keys: KeyDesk
    private var rehearsals: RehearsalDesk

    package nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - eventLoop: The engine's own; nothing else should run there.
    ///   - naming: By what ids entries are shown. Default: their own, which is for tests only.
    ///   - generator: Source of jitter. Tests pass a seeded one.
    ///   - reroutePortion: Entries that find their routes at once after a reload.
    ///   - abortMax: Longest wait of a command for the end of the attempt that it aborts.
    package init(
        eventLoop: any EventLoop, clock: any EngineClock = SystemClock(),
        limits: PendingLimits = .init(), reachability: Reachability, store: (any PendingStore)? = nil,
        naming: EntryNaming = .plain,
        generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
        reroutePortion: Int = Engine.reroutePortion, abortMax: TimeAmount = Engine.abortMax, logger: Logger
    ) {
        self.eventLoop = eventLoop
        self.clock = clock
        jitter = Jitter(generator)
        let seed = jitter.next()
        network = NetworkDesk(reachability)
        reporter = Reporter(logger, naming: naming)
        rerouting = ReroutingChain(portion: reroutePortion, store: store)
        self.abortMax = abortMax
        saver = TicketSaver(logger, naming: naming, store: store)
        history = TicketHistory(logger, store: store)
        self.store = store
        self.naming = naming
        pending = PendingSet(limits: limits, naming: naming, seed: seed)
        keys = KeyDesk(heldClientCountMax: limits.heldClientCountMax, store: store)
        rehearsals = RehearsalDesk(rehearsalBoard, logger)
        startedAt = clock.now()
        if store?.isOpen == false {
            // The tickets of a store that opens later were accepted before all that waits until then, and no sequence
            // is used twice. Less than one sequence is used per microsecond, so those of the store are below this one.
            pending.skipSequences(to: Int(clock.wallNanoseconds(of: startedAt) / 1000))
            if store?.hasUnknownTickets == true { pending.lanesAreUnknown() }
        }
        // Nothing is there yet that could be woken.
        _ = pending.handle(ModeChanged(to: reachability.mode), now: startedAt, using: &jitter)
    }

    /// Entries that find their routes before other facts are worked on. Default: 200, which takes about 20 ms in a debug build.
    package static let reroutePortion = 200

    /// Longest wait for the end of an attempt that is aborted. Default: 2 s.
    package static let abortMax: TimeAmount = .seconds(2)

    /// Lets a loop take part. Before its first connection.
    package func register(_ loop: any ExchangeLoop) {
        loops.append(loop)
        loop.setOffline(network.reachability.offlineTunnels)
        loop.setNetwork(network.reachability.condition)
    }

    package func setProber(_ prober: any Prober) {
        if network.setProber(prober) { startProbe() }
        armTimer()
    }

    /// Has servers on this machine found as soon as they listen again.
    package func setListenerTable(_ table: any ListenerTable) { network.setListenerTable(table) }

    // MARK: Facts

    /// Takes a fact of the pending set, from any thread. Facts of one thread are worked on in their order.
    package nonisolated func post(_ fact: some PostedFact) { enter { $0.handle(fact) } }

    /// Takes a fact by which an exchange joins the set. Commands reach the exchange from then on.
    package nonisolated func post(_ fact: some JoiningFact, from exchange: any HeldExchange) {
        enter {
            $0.exchanges[fact.new.id] = exchange
            $0.handle(fact)
        }
    }

    package nonisolated func post(_ fact: ExchangeFact) { enter { $0.handle(fact) } }
    package nonisolated func post(_ fact: ReachabilityFact) { enter { $0.handle(fact) } }
    package nonisolated func post(_ fact: KeyFact) { enter { $0.handle(fact) } }

    /// The claim of a request to its key. From any thread.
    package nonisolated func nextClaim() -> KeyReservations.Claim {
        KeyReservations.Claim(number: claimNumbers.add(1, ordering: .relaxed).newValue)
    }

    private func handle(_ fact: KeyFact) {
        // Apart from the others: the desk is not at work while the fact that follows is handled.
        if case .lookForOthers(let claim, let id) = fact { return handle(OthersLookedFor(id, doWait: keys.isAwaited(claim))) }
        keys.take(fact, in: self)
    }

    /// Runs on the event loop, after what was posted before.
    nonisolated func enter(_ work: @escaping @Sendable (isolated Engine) -> Void) {
        eventLoop.execute { self.assumeIsolated(work) }
    }

    /// Works on one fact. What follows from each is done at its end: the changes of tickets are handed to the store, in order, and
    /// attempts begin.
    ///
    /// - Parameter work: Gets the time.
    func run<Value>(_ work: (Timestamp) -> Value) -> Value {
        let result = work(clock.now())
        saver.saveTouched(for: self) { pending.record(of: $0) }
        let starts = starts
        self.starts = []
        for (id, trigger) in starts { replay(id, trigger) }
        for end in waits.keys where isOver(end) { waits.callOnce(about: end) }
        network.watchListeners(on: pending.awaitedOnThisMachine, now: clock.now())
        armTimer()
        return result
    }

    /// Takes a fact of the pending set.
    func handle(_ fact: some PendingFact) { run { now in take(fact, now: now) } }

    /// As `handle`, as a part of what `run` does.
    func take(_ fact: some PendingFact, now: Timestamp) { perform(pending.handle(fact, now: now, using: &jitter)) }

    private func isOver(_ end: AwaitedEnd) -> Bool {
        switch end {
        case .attempt(let id): pending.entry(id, now: clock.now())?.state != .attempting
        case .rerouting: !pending.isRerouting
        }
    }

    /// Waits for an end, but no longer than a limit. Other facts are worked on in the meantime.
    func wait(for end: AwaitedEnd, atMost limit: TimeAmount) async {
        guard !isOver(end) else { return }
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let number = waits.add({ continuation.resume() }, for: end)
            eventLoop.scheduleTask(in: limit) { [weak self] in
                self?.assumeIsolated { $0.waits.remove(number, for: end)?() }
            }
        }
    }

    package func untilAttemptEnded(_ id: EntryID) async { await wait(for: .attempt(id), atMost: abortMax) }

    /// Has one of the loops make an attempt of a ticket.
    private func replay(_ id: EntryID, _ trigger: AttemptTrigger) {
        guard let entry = pending.entry(id, now: clock.now()), let ticket = entry.ticket,
            entry.state == .attempting, !loops.isEmpty
        else { return }
        if entry.resume != nil, let exchange = exchanges[id] { return exchange.start(trigger, isForced: entry.isForced) }
        nextLoop = (nextLoop + 1) % loops.count
        exchanges[id] = loops[nextLoop].replay(TicketReplay(entry, ticket, trigger, routes: routes))
    }

    // MARK: Timer

    /// Sets the one timer to the next thing that is due in any machine.
    private func armTimer() {
        let next = [pending.nextWakeAt, network.nextWakeAt, rehearsals.nextEndAt].compactMap { $0 }.min()
        guard !timer.isSet(to: next) else { return }
        // Weakly: the timer must not keep a released engine alive.
        timer.set(to: next, now: clock.now(), on: eventLoop) { [weak self] in self?.assumeIsolated { $0.timerFired() } }
    }

    /// Does what is due by the clock. The timer calls it; tests do so after moving the clock.
    package func timerFired() {
        timer.fired()
        run { now in
            perform(network.advance(to: now))
            for origin in network.lookForListeners(now: now) { take(OriginMayBeReachable(origin), now: now) }
            take(TimePassed(), now: now)
            if rehearsals.advance(to: now) { showRehearsals() }
        }
    }

    // MARK: Network

    func handle(_ fact: ReachabilityFact) {
        // The time of the timer means something else since the machine woke.
        if case .resumed = fact { timer.cancel() }
        run { now in perform(network.observe(fact, now: now)) }
    }

    /// A probe that is still under way is cancelled: it tests a network that is gone.
    func startProbe() {
        network.startProbe { number, result in await self.probed(number, result) }
    }

    private func probed(_ number: Int, _ result: ProbeResult) {
        if network.isCurrent(number) { handle(.probed(result)) }
    }

    // MARK: Rehearsals

    /// The oldest first.
    package func currentRehearsals() -> [Rehearsal] {
        let now = clock.now()
        return rehearsals.current.filter { !$0.isOver(at: now) }
    }

    package func rehearse(_ order: RehearsalOrder, by author: CommandAuthor = .loopback) throws(RehearsalRefusal) -> Rehearsal {
        let now = clock.now()
        if rehearsals.advance(to: now) { showRehearsals() }
        let rehearsal = try rehearsals.begin(order, by: author, now: now)
        showRehearsals()
        return rehearsal
    }

    /// - Returns: The rehearsal; nil: there is none with this number.
    package func stopRehearsal(_ number: Int, by author: CommandAuthor = .loopback) -> Rehearsal? {
        let now = clock.now()
        if rehearsals.advance(to: now) { showRehearsals() }
        let rehearsal = rehearsals.stop(number, by: author, now: now)
        if rehearsal != nil { showRehearsals() }
        return rehearsal
    }

    private func showRehearsals() {
        for loop in loops { loop.setRehearsals(rehearsals.current) }
        reporter.events.append(.rehearsals(rehearsals.current))
        armTimer()
    }
}

/// Lets a generator of any type be passed as a concrete one.
struct Jitter: RandomNumberGenerator {
    private var base: any RandomNumberGenerator & Sendable

    init(_ base: any RandomNumberGenerator & Sendable) { self.base = base }

    mutating func next() -> UInt64 { base.next() }
}
