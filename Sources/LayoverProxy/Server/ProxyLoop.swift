package import LayoverCore
package import LayoverEngine
import LayoverSystem
package import LayoverTLS
package import Logging
package import NIOCore
import Synchronization

/// Everything that one event loop of the listener shares among its connections.
///
/// `@unchecked Sendable`: all mutable state is touched on the loop only; calls from elsewhere switch to it.
package final class ProxyLoop: ExchangeLoop, @unchecked Sendable {
    package let eventLoop: any EventLoop
    package let engine: Engine
    package let metrics = LoopMetrics()
    private(set) var configuration: ProxyConfiguration
    private(set) var planner: RequestPlanner
    private let addressGuard: any AddressGuard
    let timeouts: ClientTimeouts
    let spool: BodySpool
    let logger: Logger
    /// Responses for the time when their origin cannot be reached. Nil: no responses are kept.
    private(set) var cache: (any ResponseCache)?
    /// The certificates of intercepted hosts. Nil: every CONNECT becomes a tunnel.
    private(set) var certificates: LeafCertificates?
    /// The state of interceptions that all loops share. Not nil if there are certificates.
    private(set) var interceptions: Interceptions?
    /// The certificate for clients that speak TLS to the proxy. Nil: clients speak without TLS.
    private(set) var identity: TLSServerContext?
    /// How TLS is spoken with origins and parent proxies at the other end of tunnels and upgrades.
    private(set) var clientTLS: TLSClientContext?
    let tlsSessions = TLSSessionCache()
    /// For handshakes with clients.
    let handshakeTurns: TLSHandshakeTurns
    /// Where clients reach the listener; nil: it listens on a Unix socket.
    private(set) var listensAt: OwnAddress?
    private var passwordChecks: PasswordChecks?
    /// The users of the proxy. Nil: everybody may use it.
    private(set) var users: UserAccess?
    /// The access log. Nil: requests are not logged.
    private(set) var accessLog: AccessLog?
    /// Counts connections of all loops against `limits.connections`.
    let connectionLimit: ConnectionLimit
    /// Counts bytes that wait for clients by HTTP/2 of all loops against `limits.unsentTotal`.
    let unsentTotal: UnsentTotal
    let workers: LoopWorkers
    let connections: LoopConnections
    /// Exchanges without a client.
    private var unattended = ArrivedObjects<Exchange>()
    private(set) var network = NetworkView()
    private let finalResponses = FinalResponses()
    private(set) var isDraining = false
    private var isShutDown = false
    /// Source of entry ids and of jitter. A simulation puts a seeded one here.
    var generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    /// Asks the kernel for the socket of a client. A simulation puts its own in place.
    var askForPeerSocket: (ClientConnection) -> PeerSocket.State = { connection in
        PeerSocket.state(local: connection.context?.channel.localAddress, remote: connection.context?.channel.remoteAddress)
    }
    /// Asks the kernel whether an address is no address of this machine any more. A test puts its own answer in place.
    var isAddressGone: (SocketAddress) -> Bool = { LocalAddress.isGone($0) }
    /// How long the body of a conflict is read for its code. A test puts a longer time in place. Default: 5 s.
    var conflictCodeTime: TimeAmount = .seconds(5)
    /// The time of the last tick: deadlines of clients need no better, and reading the clock for each
    /// request would cost more than all else that is done for them.
    var coarseNow: NIODeadline
    /// For responses that have none.
    var dateLine = DateLine()
    private var ticks: RepeatedTask?
    private static let tickInterval = TimeAmount.seconds(1)
    private var tickCount = 0
    private var whenIdle: EventLoopPromise<Void>?

    package init(
        eventLoop: any EventLoop, engine: Engine, configuration: ProxyConfiguration, spool: BodySpool,
        addressGuard: any AddressGuard, connectionLimit: ConnectionLimit, unsentTotal: UnsentTotal = UnsentTotal(), logger: Logger
    ) {
        self.eventLoop = eventLoop
        coarseNow = eventLoop.now
        self.engine = engine
        self.configuration = configuration
        self.spool = spool
        self.connectionLimit = connectionLimit
        self.unsentTotal = unsentTotal
        handshakeTurns = TLSHandshakeTurns(eventLoop: eventLoop)
        self.logger = logger
        timeouts = ClientTimeouts(configuration)
        self.addressGuard = addressGuard
        workers = LoopWorkers(eventLoop: eventLoop)
        connections = LoopConnections(metrics: metrics)
        planner = RequestPlanner(configuration: configuration, addressGuard: addressGuard)
    }

    /// Makes the worker and starts the clock that finds idle clients. Before the first connection.
    ///
    /// - Parameter ticks: Whether time passes by itself. Only a test says no.
    package func start(with upstream: any Upstream, ticks isTicking: Bool = true) throws {
        try workers.start(with: upstream) { [weak self] in self?.connections.flush() }
        guard isTicking else { return }
        coarseNow = eventLoop.now
        ticks = eventLoop.scheduleRepeatedTask(initialDelay: Self.tickInterval, delay: Self.tickInterval) {
            [weak self] _ in self?.secondPassed()
        }
    }

    /// Keeps responses from now on.
    package func use(_ cache: any ResponseCache) -> EventLoopFuture<Void> {
        eventLoop.submit { self.cache = cache }
    }

    /// Intercepts connections to the hosts that the routes say from now on.
    package func use(_ certificates: LeafCertificates, _ interceptions: Interceptions) -> EventLoopFuture<Void> {
        eventLoop.submit { (self.certificates, self.interceptions) = (certificates, interceptions) }
    }

    /// Speaks TLS with new connections from now on, by this certificate.
    package func use(_ identity: TLSServerContext) -> EventLoopFuture<Void> {
        eventLoop.submit { self.identity = identity }
    }

    /// Speaks TLS with origins by these settings, where an upgrade is relayed to one. Before the first connection.
    package func use(_ settings: TLSClientContext) -> EventLoopFuture<Void> {
        eventLoop.submit { self.clientTLS = settings }
    }

    /// Says where the listener is. Before the first connection.
    func listens(at address: OwnAddress?) -> EventLoopFuture<Void> {
        eventLoop.submit { self.listensAt = address }
    }

    /// Lets in the users of the configuration only. Before the first connection.
    package func use(_ checks: PasswordChecks) -> EventLoopFuture<Void> {
        eventLoop.submit {
            self.passwordChecks = checks
            self.users = UserAccess(self.configuration.users, checks: checks, metrics: self.metrics)
        }
    }

    /// Writes a line for each exchange from now on. Before the first connection.
    package func logAccess(as format: AccessLog.Format, to sink: @escaping AccessLog.Sink) -> EventLoopFuture<Void> {
        eventLoop.submit { self.accessLog = AccessLog(format, on: self.eventLoop, clock: self.engine.clock, to: sink) }
    }

    // MARK: What the engine says

    package func announce(_ origin: Origin, _ notice: OriginNotice) {
        eventLoop.execute { self.network.announce(origin, notice) }
    }

    package func setOffline(_ tunnels: OfflineTunnels?) {
        eventLoop.execute { self.modeSet(tunnels) }
    }

    private func modeSet(_ tunnels: OfflineTunnels?) {
        network.isOffline = tunnels != nil
        if let tunnels {
            for connection in connections.inOrder { connection.exchange?.wentOffline(cuts: tunnels == .cut) }
            for exchange in unattended.inOrder { exchange.wentOffline(cuts: tunnels == .cut) }
        }
        connections.tunnels.modeSet(tunnels, now: engine.clock.now())
    }

    package func setRehearsals(_ current: [Rehearsal]) {
        eventLoop.execute { self.connections.tunnels.rehearsed(current, now: self.engine.clock.now()) }
    }

    package func caughtUp() async { try? await eventLoop.submit {}.get() }

    package func setNetwork(_ condition: NetworkCondition) {
        eventLoop.execute { self.network.condition = condition }
    }

    /// Says once that an origin answered while the network was in doubt.
    func networkAnswered() {
        network.condition.isDoubted = false
        engine.post(.networkAnswered)
    }

    /// Goes by another configuration from now on. Requests that the engine does not know find their routes here; those of entries it
    /// has found before (`Engine.adopt`).
    package func adopt(_ new: ReloadableConfiguration) -> EventLoopFuture<Void> {
        eventLoop.submit {
            let usersBefore = self.configuration.users
            self.configuration.reloadable = new
            if new.users != usersBefore { self.usersChanged() }
            self.planner = RequestPlanner(configuration: self.configuration, addressGuard: self.addressGuard)
            for connection in self.connections.inOrder { connection.adoptedConfiguration() }
        }
    }

    private func usersChanged() {
        users = passwordChecks.flatMap { UserAccess(configuration.users, checks: $0, metrics: metrics) }
    }

    /// Accepts tickets from now on, or keeps the reason for refusing them. Called only once the store is open: the sweep of an opening
    /// store could otherwise remove the body of a request that is becoming a ticket.
    package func acceptTickets(unless failure: StoreFailure?) {
        eventLoop.execute {
            self.configuration.noTickets = failure
            if failure == nil { self.configuration.keepsLanesWaiting = false }
            self.planner = RequestPlanner(configuration: self.configuration, addressGuard: self.addressGuard)
        }
    }

    package func networkChanged() {
        eventLoop.execute {
            self.workers.networkChanged()
            // Those in the pending set are the engine's to abandon.
            for connection in self.connections.inOrder { connection.exchange?.abandonIfFresh() }
            for connection in self.connections.inOrder { connection.exchange?.endIfAddressIsGone() }
        }
    }

    // MARK: Connections

    func closed(_ connection: ClientConnection) {
        connections.closed(connection)
        // A stream is not the client: others follow on its connection.
        if connection.stream == nil { workers.clientLeft(connection.number) }
        finishDrainingIfIdle()
    }

    func closed(_ session: HTTP2Session) {
        connections.closed(session)
        workers.clientLeft(session.number)
    }

    /// Ticks between two questions to the workers how late they are. Default: 10.
    private static let lagInterval = 10

    private func secondPassed() {
        let now = eventLoop.now
        metrics.loopLag.add(.nanoseconds((now - coarseNow - Self.tickInterval).nanoseconds))
        coarseNow = now
        tickCount += 1
        if tickCount.isMultiple(of: Self.lagInterval) { workers.measureLag(by: engine.clock, into: metrics.workerLag) }
        tick(now: coarseNow)
    }

    /// Looks at what is overdue. Tests call it with a time of their own, which is only for this once: what
    /// begins afterwards counts from the real time.
    func tick(now: NIODeadline) { connections.tick(now: now, coarseNow: coarseNow, tunnelIdleMax: timeouts.tunnelIdle) }

    func opened(_ near: TunnelRelay, to origin: Origin) {
        connections.tunnels.opened(near, to: origin, now: engine.clock.now())
    }

    func closed(_ near: TunnelRelay) {
        if connections.tunnels.closed(near) { connectionLimit.closed() }
    }

    /// The open connections to origins, but for those of tunnels, which `LoopMetrics.openTunnelCount` has.
    package func connectionCounts() -> EventLoopFuture<[Origin: ConnectionCount]> {
        eventLoop.submit { self.workers.connectionCounts }
    }

    // MARK: Tickets

    package func replay(_ replay: TicketReplay) -> (any HeldExchange)? {
        guard let store = engine.store else { return nil }
        let exchange = Exchange(of: replay, on: self)
        opened(exchange)
        eventLoop.execute { [self] in
            let reading = TicketReading(store: store, replay: replay, limits: configuration.body, spool: spool)
            Task { [eventLoop] in
                let request = await reading.read()
                eventLoop.execute { exchange.requestWasRead(request, for: replay) }
            }
        }
        return exchange
    }

    /// Registers an exchange that has no client. A stop of the proxy waits for it if it must finish (`Exchange.mustFinish`).
    func opened(_ exchange: Exchange) {
        // At once where possible: a stop of the loop that follows must include it.
        guard eventLoop.inEventLoop else { return eventLoop.execute { self.opened(exchange) } }
        guard exchange.phase != .ended else { return }
        unattended.insert(exchange)
        if isShutDown { exchange.stop() }
    }

    func closed(_ exchange: Exchange) {
        unattended.remove(exchange)
        finishDrainingIfIdle()
    }

    /// Parts of the responses to tickets that a loop keeps from one attempt to the next. Of more, all is asked for again. Default: 256.
    private static let keptPartsMax = 256

    /// Whether the part of one response more may be kept.
    var mayKeepPart: Bool {
        !isDraining && unattended.all.count { $0.store != nil && $0.machine.resumable != nil } < Self.keptPartsMax
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
            for session in self.connections.allSessions { session.drain() }
            for connection in self.connections.inOrder { connection.drain() }
            self.finishDrainingIfIdle()
            return promise.futureResult
        }
    }

    /// Longest wait for tickets that are on their way to the disk when the time to finish is over. Default: 5 s.
    private static let finalResponsesMax: TimeAmount = .seconds(5)

    /// The time to finish is over: clients that accept tickets get one, and the others that have no response get a 503.
    ///
    /// - Returns: Succeeds when that is done.
    package func cutOff() -> EventLoopFuture<Void> {
        eventLoop.flatSubmit {
            let future = self.finalResponses.future(on: self.eventLoop)
            for connection in self.connections.inOrder {
                guard let exchange = connection.exchange else { continue }
                // The exchange may have its final response before the call returns.
                self.finalResponses.await(exchange)
                if exchange.cutOff() { self.finalResponses.remove(exchange) }
            }
            let timer = self.eventLoop.scheduleTask(in: Self.finalResponsesMax) { self.finalResponsesAreOverdue() }
            future.whenComplete { _ in timer.cancel() }
            self.finalResponses.endIfEmpty()
            return future
        }
    }

    /// The client of an exchange has its final response, or has left.
    func finalResponseGiven(_ exchange: any ConnectionTask) {
        if finalResponses.remove(exchange) { finalResponses.endIfEmpty() }
    }

    private func finalResponsesAreOverdue() {
        for connection in connections.inOrder {
            if let exchange = connection.exchange, finalResponses.isAwaited(exchange) { exchange.finalResponseIsOverdue() }
        }
        finalResponses.end()
    }

    /// Closes whatever is left, and the workers.
    ///
    /// - Returns: The workers. What their last attempts came to is told once they have ended.
    func shutDown() -> EventLoopFuture<[any UpstreamWorker]> {
        eventLoop.submit {
            self.isShutDown = true
            self.ticks?.cancel()
            self.connections.closeAll()
            self.accessLog?.close()
            for exchange in self.unattended.inOrder { exchange.stop() }
            return self.workers.shutDown()
        }
    }

    private func finishDrainingIfIdle() {
        guard isDraining, connections.count == 0 else { return }
        if !unattended.all.contains(where: \.mustFinish) { finishDraining() }
    }

    private func finishDraining() {
        whenIdle?.succeed()
        whenIdle = nil
        isDraining = false
    }
}
