package import LayoverCore
package import LayoverEngine
package import Logging
package import NIOCore
import Synchronization

/// Everything that one event loop of the listener shares among its connections.
///
/// `@unchecked Sendable`: all mutable state is touched on the loop only; calls from elsewhere hop there.
package final class ProxyLoop: ExchangeLoop, @unchecked Sendable {
    package let eventLoop: any EventLoop
    package let engine: Engine
    package let metrics = LoopMetrics()
    private(set) var rules: ProxyRules
    private(set) var planner: RequestPlanner
    private let addressGuard: any AddressGuard
    /// One tick longer than configured, because deadlines count from the tick before.
    let clientIdleTimeout: TimeAmount
    let requestHeadTimeout: TimeAmount
    let clientStallTimeout: TimeAmount
    let tunnelIdleTimeout: TimeAmount
    let spool: BodySpool
    let logger: Logger
    /// Counts connections of all loops against `limits.connections`.
    let connectionLimit: ConnectionLimit
    private(set) var worker: (any UpstreamWorker)?

    /// What the engine said of origins that are or were in trouble. A stale view is harmless: the engine
    /// looks again.
    private var notices: [Origin: OriginNotice] = [:]
    private(set) var isOffline = false
    /// Whether the network as a whole counts as away.
    private(set) var isNetworkAway = false
    /// Whether the engine wants to hear of the next answer, whoever gives it.
    private(set) var isNetworkDoubted = false
    private(set) var isDraining = false
    /// Source of entry ids and of jitter. A simulation puts a seeded one here.
    var generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    /// The time of the last tick: deadlines of clients need no better, and reading the clock for each
    /// request would cost more than all else that is done for them.
    private(set) var coarseNow: NIODeadline
    private var unflushed: [ClientConnection] = []
    private var connections: [Int: ClientConnection] = [:]
    /// Connections that were ever opened: the number of the newest.
    private var connectionNumber = 0
    private var tunnels: [ObjectIdentifier: TunnelRelay] = [:]
    private var ticks: RepeatedTask?
    private var whenIdle: EventLoopPromise<Void>?

    package init(
        eventLoop: any EventLoop, engine: Engine, rules: ProxyRules, spool: BodySpool,
        addressGuard: any AddressGuard, connectionLimit: ConnectionLimit, logger: Logger
    ) {
        self.eventLoop = eventLoop
        coarseNow = eventLoop.now
        self.engine = engine
        self.rules = rules
        self.spool = spool
        self.connectionLimit = connectionLimit
        self.logger = logger
        clientIdleTimeout = TimeAmount(rules.clientIdleTimeout) + .seconds(1)
        requestHeadTimeout = TimeAmount(rules.requestHeadTimeout) + .seconds(1)
        clientStallTimeout = TimeAmount(rules.clientStallTimeout) + .seconds(1)
        tunnelIdleTimeout = TimeAmount(rules.tunnelIdleTimeout) + .seconds(1)
        self.addressGuard = addressGuard
        planner = RequestPlanner(rules: rules, addressGuard: addressGuard)
    }

    /// Makes the worker and starts the clock that finds idle clients. Before the first connection.
    ///
    /// - Parameter ticks: Whether time passes by itself. Only a test says no.
    package func start(with upstream: any Upstream, ticks isTicking: Bool = true) throws {
        worker = try upstream.makeWorker(for: eventLoop) { [weak self] in self?.flush() }
        guard isTicking else { return }
        ticks = eventLoop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) {
            [weak self] _ in self?.secondPassed()
        }
    }

    // MARK: What the engine says

    package func announce(_ origin: Origin, _ notice: OriginNotice) {
        eventLoop.execute { self.notices[origin] = notice == .forgotten ? nil : notice }
    }

    package func setOffline(_ isOffline: Bool) {
        eventLoop.execute { self.isOffline = isOffline }
    }

    package func setNetwork(isAway: Bool, isDoubted: Bool) {
        eventLoop.execute {
            self.isNetworkAway = isAway
            self.isNetworkDoubted = isDoubted
        }
    }

    /// Says once that an origin answered while the network was in doubt.
    func networkAnswered() {
        isNetworkDoubted = false
        engine.post(.networkAnswered)
    }

    /// Goes by other rules from now on. What is known of routes, policies and the time-outs of attempts
    /// counts at once, for requests that wait too; the rest needs a restart.
    package func adopt(_ new: ProxyRules) -> EventLoopFuture<Void> {
        eventLoop.submit {
            self.rules.routes = new.routes
            self.rules.attempt = new.attempt
            self.planner = RequestPlanner(rules: self.rules, addressGuard: self.addressGuard)
            for connection in self.inOrder(self.connections.values) { connection.adoptedRules() }
        }
    }

    package func networkChanged() {
        eventLoop.execute {
            self.worker?.networkChanged()
            // Those in the pending set are the engine's to abandon.
            for connection in self.inOrder(self.connections.values) {
                if let exchange = connection.exchange, exchange.entry == nil { exchange.abandonIfConnecting() }
            }
        }
    }

    /// Nil on the fast path: nobody waits for the origin and its gate is open.
    func notice(for origin: Origin) -> OriginNotice? {
        if isOffline { return .shut }
        return notices.isEmpty ? nil : notices[origin]
    }

    // MARK: Writing

    /// Lets a connection be flushed at the end of the batch.
    func flushLater(_ connection: ClientConnection) { unflushed.append(connection) }

    /// Connections that are kept alive from here: open ones, and those to be flushed.
    var heldConnectionCount: Int { connections.count + unflushed.count }

    private func flush() {
        let connections = unflushed
        unflushed.removeAll(keepingCapacity: true)
        for connection in connections { connection.flushInTurn() }
    }

    // MARK: Connections

    func opened(_ connection: ClientConnection) {
        connectionNumber += 1
        connection.number = connectionNumber
        connections[connection.number] = connection
        metrics.connectionCount.increment()
        metrics.openConnectionCount.store(connections.count, ordering: .relaxed)
    }

    func closed(_ connection: ClientConnection) {
        connections[connection.number] = nil
        metrics.openConnectionCount.store(connections.count, ordering: .relaxed)
        if isDraining, connections.isEmpty { finishDraining() }
    }

    /// The oldest first: what is done to many must not hang on the order of a dictionary.
    private func inOrder(_ connections: some Collection<ClientConnection>) -> [ClientConnection] {
        connections.sorted { $0.number < $1.number }
    }

    /// Connections whose head is being timed, for tests.
    var timedHeadCount: Int { connections.values.count { $0.isHeadTimed } }

    /// Bytes of answers that wait for their clients, for tests.
    var untakenByteCount: Int { connections.values.reduce(0) { $0 + $1.writtenByteCountLeft } }

    private func secondPassed() {
        coarseNow = eventLoop.now
        tick(now: coarseNow)
    }

    /// Looks at what is overdue. Tests call it with a time of their own, which is only for this once: what
    /// begins afterwards counts from the real time.
    func tick(now: NIODeadline) {
        // What was flushed outside of a batch would be held until the next one.
        flush()
        for connection in inOrder(connections.values.filter { $0.wantsTick(now: now) }) { connection.tick(now: now) }
        for tunnel in tunnels.values { tunnel.tick(now: now, coarseNow: coarseNow, idleMax: tunnelIdleTimeout) }
    }

    // MARK: Tunnels

    /// - Parameter near: The client's half.
    func opened(_ near: TunnelRelay) {
        tunnels[ObjectIdentifier(near)] = near
        metrics.tunnelCount.increment()
        metrics.openTunnelCount.increment()
    }

    func closed(_ near: TunnelRelay) {
        guard tunnels.removeValue(forKey: ObjectIdentifier(near)) != nil else { return }
        metrics.openTunnelCount.increment(by: -1)
        connectionLimit.closed()
    }

    // MARK: The end

    /// Lets exchanges under way finish and closes the rest.
    ///
    /// - Returns: Succeeds when no connection is left.
    package func drain() -> EventLoopFuture<Void> {
        eventLoop.flatSubmit {
            let promise = self.whenIdle ?? self.eventLoop.makePromise(of: Void.self)
            self.whenIdle = promise
            self.isDraining = true
            for connection in self.inOrder(self.connections.values) { connection.drain() }
            if self.connections.isEmpty { self.finishDraining() }
            return promise.futureResult
        }
    }

    /// Closes whatever is left, and the worker.
    package func shutDown() -> EventLoopFuture<Void> {
        eventLoop.submit {
            self.ticks?.cancel()
            for connection in self.inOrder(self.connections.values) { connection.closeNow() }
            for tunnel in self.tunnels.values { tunnel.close() }
            self.worker?.shutDown()
            self.worker = nil
        }
    }

    private func finishDraining() {
        whenIdle?.succeed()
        whenIdle = nil
        isDraining = false
    }
}
