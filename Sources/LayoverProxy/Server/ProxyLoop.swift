package import LayoverCore
package import LayoverEngine
import LayoverReplay
package import Logging
package import NIOCore
import Synchronization
#if canImport(Glibc)
import Glibc
#endif

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
    /// Answers for the time when their origin cannot be reached. Nil: none are kept.
    private(set) var cache: (any AnswerCache)?
    /// Counts connections of all loops against `limits.connections`.
    let connectionLimit: ConnectionLimit
    private(set) var worker: (any UpstreamWorker)?
    /// Make the attempts of tickets, which block while they are being noted on disk.
    private var ticketWorkers: [any UpstreamWorker] = []
    /// Attempts of tickets so far: the workers take them in turn.
    private var ticketAttemptCount = 0
    private var upstream: (any Upstream)?
    /// Exchanges without a client.
    private var unattended: [ObjectIdentifier: Exchange] = [:]

    /// What the engine said of origins that are or were in trouble. A stale view is harmless: the engine
    /// looks again.
    private var notices: [Origin: OriginNotice] = [:]
    private(set) var isOffline = false
    /// Whether the network as a whole counts as away.
    private(set) var isNetworkAway = false
    /// Whether the engine wants to hear of the next answer, whoever gives it.
    private(set) var isNetworkDoubted = false
    private(set) var isDraining = false
    private var isShutDown = false
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
    /// Exchanges whose clients are still to get a last word.
    private var unsettled: Set<ObjectIdentifier> = []
    private var whenSettled: EventLoopPromise<Void>?

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
        self.upstream = upstream
        worker = try upstream.makeWorker(for: eventLoop) { [weak self] in self?.flush() }
        guard isTicking else { return }
        ticks = eventLoop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) {
            [weak self] _ in self?.secondPassed()
        }
    }

    /// Keeps answers from now on.
    package func use(_ cache: any AnswerCache) -> EventLoopFuture<Void> {
        eventLoop.submit { self.cache = cache }
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
            for exchange in self.unattended.values { exchange.reroute() }
        }
    }

    /// Accepts tickets from now on, or says why not. Only once the store is open: what it swept away before must
    /// not be the body of one that is on its way.
    package func acceptTickets(unless failure: StoreFailure?) {
        eventLoop.execute {
            self.rules.noTickets = failure
            self.planner = RequestPlanner(rules: self.rules, addressGuard: self.addressGuard)
        }
    }

    package func networkChanged() {
        eventLoop.execute {
            self.worker?.networkChanged()
            for worker in self.ticketWorkers { worker.networkChanged() }
            // Those in the pending set are the engine's to abandon.
            for connection in self.inOrder(self.connections.values) {
                connection.exchange?.abandonIfFresh()
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

    /// Connections whose clients have closed their sending side.
    var halfClosedConnectionCount: Int { connections.values.count(where: \.isInputClosed) }

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
        finishDrainingIfIdle()
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

    // MARK: Tickets

    package func replay(_ replay: TicketReplay) -> (any HeldExchange)? {
        guard let store = engine.store else { return nil }
        let loading = TicketLoading(replay, from: store, on: self)
        loading.begin()
        return loading.exchange
    }

    /// Nil once the loop is shut down, or when there are no more threads to be had.
    func ticketWorker() -> (any UpstreamWorker)? {
        ticketAttemptCount += 1
        if ticketWorkers.count < Self.ticketWorkerCount, ticketAttemptCount > ticketWorkers.count,
            let worker = try? upstream?.makeWorker(for: eventLoop, batchEnded: { [weak self] in self?.flush() })
        {
            ticketWorkers.append(worker)
            return worker
        }
        return ticketWorkers.isEmpty ? nil : ticketWorkers[ticketAttemptCount % ticketWorkers.count]
    }

    /// Workers for tickets, made as they are needed: so many attempts are noted on disk together. Default: 4.
    private static let ticketWorkerCount = 4

    /// An exchange has no client. Where it is a ticket's, stopping waits for it.
    func opened(_ exchange: Exchange) {
        // At once where it can be: whoever stops the loop next must know of it.
        guard eventLoop.inEventLoop else { return eventLoop.execute { self.register(exchange) } }
        register(exchange)
    }

    private func register(_ exchange: Exchange) {
        guard exchange.phase != .ended else { return }
        unattended[ObjectIdentifier(exchange)] = exchange
        if isShutDown { exchange.stop() }
    }

    func closed(_ exchange: Exchange) {
        unattended[ObjectIdentifier(exchange)] = nil
        finishDrainingIfIdle()
    }

    /// Seconds since 1970.
    var wallSeconds: Int { time(nil) }

    /// Nanoseconds since 1970.
    func wall(_ timestamp: Timestamp) -> Int64 { engine.clock.wallNanoseconds(of: timestamp) }

    /// When the credentials of a request are past their time; nil where they do not say.
    func credentialExpiry(of request: UpstreamRequest) -> Timestamp? {
        let wall = wallSeconds
        guard
            let expiry = CredentialExpiry.of(target: request.target, fields: request.fields, now: wall)
        else { return nil }
        return engine.clock.now() + .seconds(expiry.notAfter - wall)
    }

    /// An honest guess of when it is worth while to ask again, in seconds. At least 1.
    func secondsUntil(_ timestamp: Timestamp?) -> Int {
        guard let timestamp else { return Self.askAgainAfter }
        return max(1, Int((timestamp - engine.clock.now()).inSeconds.rounded(.up)))
    }

    /// Seconds after which to ask again where nothing better is known. Default: 5.
    private static let askAgainAfter = 5

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
            self.finishDrainingIfIdle()
            return promise.futureResult
        }
    }

    /// Longest wait for tickets that are on their way to the disk when the time to finish is over. Default: 5 s.
    private static let settlingMax: TimeAmount = .seconds(5)

    /// The time to finish is over: whoever takes a ticket is given one, and whoever has no answer yet is told.
    ///
    /// - Returns: Succeeds when that is done.
    package func cutOff() -> EventLoopFuture<Void> {
        eventLoop.flatSubmit {
            let promise = self.whenSettled ?? self.eventLoop.makePromise(of: Void.self)
            self.whenSettled = promise
            for connection in self.inOrder(self.connections.values) {
                guard let exchange = connection.exchange else { continue }
                // It may be settled before the call returns.
                self.unsettled.insert(ObjectIdentifier(exchange))
                if exchange.cutOff() { self.unsettled.remove(ObjectIdentifier(exchange)) }
            }
            let timer = self.eventLoop.scheduleTask(in: Self.settlingMax) { self.settlingIsOver() }
            promise.futureResult.whenComplete { _ in timer.cancel() }
            if self.unsettled.isEmpty { self.stopSettling() }
            return promise.futureResult
        }
    }

    /// The client of an exchange has its final response, or has left.
    func finalResponseGiven(_ exchange: any ConnectionExchange) {
        guard !unsettled.isEmpty, unsettled.remove(ObjectIdentifier(exchange)) != nil, unsettled.isEmpty else { return }
        stopSettling()
    }

    private func settlingIsOver() {
        for connection in inOrder(connections.values) {
            guard let exchange = connection.exchange, unsettled.contains(ObjectIdentifier(exchange)) else { continue }
            exchange.settlingIsOver()
        }
        stopSettling()
    }

    private func stopSettling() {
        unsettled = []
        whenSettled?.succeed()
        whenSettled = nil
    }

    /// Closes whatever is left, and the workers.
    ///
    /// - Returns: The workers. What their last attempts came to is told once they have ended.
    func shutDown() -> EventLoopFuture<[any UpstreamWorker]> {
        eventLoop.submit {
            let workers = self.ticketWorkers + (self.worker.map { [$0] } ?? [])
            self.isShutDown = true
            self.ticks?.cancel()
            for connection in self.inOrder(self.connections.values) { connection.closeNow() }
            for tunnel in self.tunnels.values { tunnel.close() }
            for exchange in self.unattended.values { exchange.stop() }
            for worker in workers { worker.shutDown() }
            self.worker = nil
            self.ticketWorkers = []
            self.upstream = nil
            return workers
        }
    }

    private func finishDrainingIfIdle() {
        if isDraining, connections.isEmpty, !unattended.values.contains(where: { $0.store != nil }) { finishDraining() }
    }

    private func finishDraining() {
        whenIdle?.succeed()
        whenIdle = nil
        isDraining = false
    }
}
