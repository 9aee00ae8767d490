package import LayoverCore
package import Logging
package import NIOCore
import NIOPosix
import Synchronization

/// Feeds facts to the core's machines and performs their actions.
///
/// One actor on one event loop of its own: facts arrive in the order in which they were posted, a
/// machine is read and written back without an await between, and the requests that need no help never
/// come here.
package actor Engine {
    package nonisolated let eventLoop: any EventLoop
    package nonisolated let clock: any EngineClock
    package nonisolated let startedAt: Timestamp
    nonisolated let logger: Logger
    /// By what ids entries are shown.
    package nonisolated let naming: EntryNaming

    var pending: PendingSet
    var network: NetworkDesk
    /// For the ids of incidents and the delays of gates.
    var jitter: Jitter
    var exchanges: [EntryID: any HeldExchange] = [:]
    var loops: [any ExchangeLoop] = []
    var reporter: Reporter
    /// Where tickets are kept. Nil: there are none.
    package nonisolated let store: (any PendingStore)?
    var saves = SaveQueue()
    var abortWaiters = AbortWaiters()
    /// Attempts of tickets that the current fact asks for. They are started once its changes are on their way to the store.
    var ticketStarts: [(id: EntryID, trigger: AttemptTrigger)] = []
    /// Loops take tickets in turn.
    var nextLoop = 0
    /// How times on disk relate to those since boot.
    var ticketClock = TicketClock()
    var routes = RouteTable()
    /// Whether the routes were changed since the start.
    var isReloaded = false
    let reroutePortion: Int
    /// Whether the next portion of a reload has been asked for.
    var isNextPortionDue = false
    var history = TicketHistory()
    var keys: KeyDesk
    nonisolated let claimNumbers = Atomic<Int>(0)
    var rehearsals = Rehearsals()
    /// The rehearsals for `RehearsedUpstream`.
    package nonisolated let rehearsalBoard = RehearsalBoard()
    private var timer: Scheduled<Void>?
    private var timerAt: Timestamp?

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        eventLoop.executor.asUnownedSerialExecutor()
    }

    /// - Parameters:
    ///   - eventLoop: The engine's own; nothing else should run there.
    ///   - naming: By what ids entries are shown. Default: their own, which is for tests only.
    ///   - generator: Source of jitter. Tests pass a seeded one.
    ///   - reroutePortion: Tickets that find their routes at once after a reload.
    package init(
        eventLoop: any EventLoop, clock: any EngineClock = SystemClock(),
        limits: PendingLimits = .init(), reachability: Reachability, store: (any PendingStore)? = nil,
        naming: EntryNaming = .plain,
        generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
        reroutePortion: Int = Engine.reroutePortion, logger: Logger
    ) {
        self.reroutePortion = reroutePortion
        self.eventLoop = eventLoop
        self.clock = clock
        jitter = Jitter(generator)
        let seed = jitter.next()
        network = NetworkDesk(reachability)
        reporter = Reporter(logger, naming: naming)
        self.store = store
        self.logger = logger
        self.naming = naming
        pending = PendingSet(limits: limits, naming: naming, seed: seed)
        keys = KeyDesk(heldClientCountMax: limits.heldClientCountMax)
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

    /// Takes a fact of the pending set, from any thread. Facts of one thread are worked on in their order.
    package nonisolated func post(_ fact: some PostedFact) {
        eventLoop.execute { self.assumeIsolated { $0.handle(fact) } }
    }

    /// Takes a fact by which an exchange joins the set. Commands reach the exchange from then on.
    package nonisolated func post(_ fact: some JoiningFact, from exchange: any HeldExchange) {
        eventLoop.execute { self.assumeIsolated { $0.handle(fact, from: exchange) } }
    }

    package nonisolated func post(_ fact: ExchangeFact) {
        eventLoop.execute { self.assumeIsolated { $0.handle(fact) } }
    }

    package nonisolated func post(_ fact: ReachabilityFact) {
        eventLoop.execute { self.assumeIsolated { $0.handle(fact) } }
    }

    // MARK: The timer

    /// The timer fires at least this often while anything is due in the future. Default: 60 s.
    private static let timerMax: Duration = .seconds(60)
    /// Shortest wait for what is not due yet: shorter ones would leave the event loop no time for its sockets. Default: 1 ms.
    private static let timerMin: Duration = .milliseconds(1)

    /// Forgets when the timer fires: its time means something else since the machine woke.
    func resetTimer() {
        timer?.cancel()
        timer = nil
        timerAt = nil
    }

    /// Sets the one timer to the next thing that is due in any machine.
    func armTimer() {
        let next = [pending.nextWakeAt, network.nextWakeAt, rehearsals.nextEndAt].compactMap { $0 }.min()
        guard next != timerAt else { return }
        timer?.cancel()
        timer = nil
        timerAt = next
        guard let next else { return }
        // NIO's clock stops during suspend; a long suspend must not delay due times by as much.
        let now = clock.now()
        let wait = next <= now ? .zero : min(max(Self.timerMin, next - now), Self.timerMax)
        // Weakly: the timer must not keep a released engine alive.
        timer = eventLoop.scheduleTask(in: .nanoseconds(wait.nanosecondsSaturating)) { [weak self] in
            self?.assumeIsolated { $0.timerFired() }
        }
    }

    /// Does what is due by the clock. The timer calls it; tests do so after moving the clock.
    package func timerFired() {
        timer = nil
        timerAt = nil
        run { now in
            perform(network.advance(to: now))
            for origin in network.lookForListeners(now: now) { take(OriginMayBeReachable(origin), now: now) }
            take(TimePassed(), now: now)
            endRehearsals(now: now)
        }
    }
}
