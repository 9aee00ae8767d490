import LayoverCore
import LayoverEngine
import LayoverTLS
import NIOCore

/// The worker of one loop: gives each attempt a connection, a kept one or a new one.
///
/// `@unchecked Sendable`: confined to its loop, like the calls it gets; `waitUntilEnded` touches the dialler only.
final class DirectWorker: UpstreamWorker, @unchecked Sendable {
    let options: DirectOptions
    let eventLoop: any EventLoop
    let dialler: any UpstreamWorker
    let batchEnded: @Sendable () -> Void
    let pool: ConnectionPool
    let deadlines: DeadlineTimer
    let tlsSessions = TLSSessionCache()
    /// For handshakes with origins.
    let handshakeTurns: TLSHandshakeTurns
    /// Where heads and pieces of bodies are made before they are sent. Used again, so that a request allocates nothing for it.
    var scratch = ByteBuffer()
    /// The same for what is encrypted.
    var secured = ByteBuffer()
    /// Counts changes of the network. No connection of an earlier generation is used again.
    private(set) var generation = 0
    private var dials: [ObjectIdentifier: Dial] = [:]
    private var connections: [ObjectIdentifier: DirectConnection] = [:]
    /// Those to servers of this machine.
    private var loopbackConnections: [ObjectIdentifier: DirectConnection] = [:]
    private let leftClients: LeftClients
    /// Connections that were looked at because clients had left.
    private(set) var leftClientsLookCount = 0
    private var isShutDown = false
    /// The next look at whether peers are alive; nil while there are no connections.
    private var peerCheck: Scheduled<Void>?
    private var peerCheckInterval = PeerSilence.interval(limit: .seconds(60))

    init(
        options: DirectOptions, dialler: any UpstreamWorker, eventLoop: any EventLoop, batchEnded: @escaping @Sendable () -> Void
    ) {
        self.options = options
        self.dialler = dialler
        self.eventLoop = eventLoop
        self.batchEnded = batchEnded
        handshakeTurns = TLSHandshakeTurns(eventLoop: eventLoop)
        pool = ConnectionPool(options: options, eventLoop: eventLoop)
        deadlines = DeadlineTimer(eventLoop: eventLoop)
        leftClients = LeftClients(eventLoop: eventLoop)
        leftClients.whenGathered = { [weak self] clients in self?.lookForConnections(of: clients) }
        deadlines.whenDue = { [weak self] now in self?.checkDeadlines(now: now) }
    }

    /// Whether the attempt is ours. Constant for one attempt: the state of others belongs to the dialler's thread.
    private func takes(_ request: UpstreamRequest) -> Bool {
        guard request.purpose == .transfer, !request.supportsHTTP2 else { return false }
        // Through a parent proxy with TLS libcurl reaches the origin, but it cannot hand its socket over.
        if request.parentProxy?.isSecure == true, request.parentProxyUse == .tunnel { return false }
        switch request.origin.scheme {
        case .http: return !request.isPeerSecure || options.tls != nil
        case .https: return options.tls != nil
        case .tunnel, .parentProxy: return false
        }
    }

    // MARK: Attempts

    func start(_ attempt: UpstreamAttempt) {
        guard takes(attempt.request) else { return dialler.start(attempt) }
        attempt.path = .direct
        guard !isShutDown else { return end(attempt, with: .abortedByProxy) }
        guard attempt.request.isAcceptable else { return end(attempt, with: .notAcceptable) }
        run(attempt)
    }

    /// Sends it on a kept connection, or else on a new one.
    func run(_ attempt: UpstreamAttempt) {
        if !attempt.needsFreshConnection {
            while let connection = pool.take(for: attempt) {
                if connection.begin(attempt) { return }
            }
        }
        let dial = Dial(for: attempt, on: self)
        dials[ObjectIdentifier(dial)] = dial
        dial.begin()
    }

    func cancel(_ attempt: UpstreamAttempt) {
        guard takes(attempt.request) else { return dialler.cancel(attempt) }
        switch attempt.workerState {
        case let connection as DirectConnection: connection.cancel(attempt)
        case let dial as Dial: dial.cancel()
        default: break
        }
    }

    func cancelIfConnecting(_ attempt: UpstreamAttempt) {
        guard takes(attempt.request) else { return dialler.cancelIfConnecting(attempt) }
        switch attempt.workerState {
        case let connection as DirectConnection where connection.isSecuring: connection.cancel(attempt)
        case let dial as Dial: dial.cancel()
        default: break
        }
    }

    func resumeReceiving(_ attempt: UpstreamAttempt) {
        guard takes(attempt.request) else { return dialler.resumeReceiving(attempt) }
        (attempt.workerState as? DirectConnection)?.resumeReceiving()
    }

    /// Reports the last event of an attempt once the current turn of the loop is over: the callers of `start` and `cancel` do not
    /// expect it within the call.
    func end(_ attempt: UpstreamAttempt, with failure: Failure) {
        attempt.workerState = nil
        eventLoop.execute {
            attempt.receiver.receive(.failed(failure), of: attempt)
            self.batchEnded()
        }
    }

    // MARK: Connections

    /// The socket of a dial is open.
    func opened(_ connection: DirectConnection) {
        connections[ObjectIdentifier(connection)] = connection
        if connection.isToLoopback { loopbackConnections[ObjectIdentifier(connection)] = connection }
        let interval = PeerSilence.interval(limit: connection.deadPeer)
        if interval < peerCheckInterval {
            peerCheckInterval = interval
            peerCheck?.cancel()
            peerCheck = nil
        }
        if peerCheck == nil { schedulePeerCheck() }
    }

    private func schedulePeerCheck() {
        guard !isShutDown else { return }
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        peerCheck = eventLoop.scheduleTask(in: TimeAmount(peerCheckInterval)) { bound.value.checkPeers() }
    }

    private func checkPeers() {
        peerCheck = nil
        let now = eventLoop.now
        for connection in Array(connections.values) { connection.checkPeer(now: now) }
        if connections.isEmpty { peerCheckInterval = PeerSilence.interval(limit: .seconds(60)) } else { schedulePeerCheck() }
    }

    func closed(_ connection: DirectConnection) {
        connections[ObjectIdentifier(connection)] = nil
        loopbackConnections[ObjectIdentifier(connection)] = nil
        pool.remove(connection)
    }

    func ended(_ dial: Dial) { dials[ObjectIdentifier(dial)] = nil }

    func clientLeft(_ client: Int) {
        if !loopbackConnections.isEmpty { leftClients.add(client) }
        dialler.clientLeft(client)
    }

    private func lookForConnections(of clients: Set<Int>) {
        for connection in loopbackConnections.values where !connection.hasClientLeft {
            leftClientsLookCount += 1
            guard let client = connection.latestClient, clients.contains(client) else { continue }
            connection.hasClientLeft = true
            pool.clientLeft(of: connection)
        }
    }

    private func checkDeadlines(now: NIODeadline) {
        for connection in connections.values { connection.checkDeadline(now: now) }
    }

    /// Includes the connections of the dialler, which opens connections for others and makes the attempts that are not made here.
    var connectionCounts: [Origin: ConnectionCount] {
        var counts = dialler.connectionCounts
        for connection in connections.values {
            counts[connection.peer, default: .init()] += ConnectionCount(open: 1, busy: connection.idleSince == nil ? 1 : 0)
        }
        return counts
    }

    // MARK: The whole worker

    func ping(_ reply: @escaping @Sendable () -> Void) { dialler.ping(reply) }

    func networkChanged() {
        generation += 1
        pool.closeAll()
        for connection in Array(connections.values) { connection.endIfAddressIsGone() }
        dialler.networkChanged()
    }

    func shutDown() {
        isShutDown = true
        pool.closeAll()
        deadlines.stop()
        peerCheck?.cancel()
        peerCheck = nil
        leftClients.stop()
        for connection in Array(connections.values) { connection.shutDown() }
        for dial in Array(dials.values) { dial.cancel() }
        dialler.shutDown()
    }

    func waitUntilEnded() { dialler.waitUntilEnded() }
}

/// One timer for the deadlines of many: it is set to the earliest that was noted, and then all are looked at. Those that have moved
/// on meanwhile, as most do, cost nothing until then. Confined to its loop.
final class DeadlineTimer {
    /// Called when a noted deadline has come. Deadlines that have not come yet must be noted again.
    var whenDue: (NIODeadline) -> Void = { _ in }
    private let eventLoop: any EventLoop
    private var timer: Scheduled<Void>?
    private var dueAt: NIODeadline?
    private var isStopped = false

    init(eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    func note(_ deadline: NIODeadline) {
        if let dueAt, dueAt <= deadline { return }
        guard !isStopped else { return }
        timer?.cancel()
        dueAt = deadline
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        timer = eventLoop.scheduleTask(deadline: deadline) { bound.value.fire() }
    }

    private func fire() {
        dueAt = nil
        timer = nil
        whenDue(eventLoop.now)
    }

    func stop() {
        isStopped = true
        timer?.cancel()
        timer = nil
    }
}
