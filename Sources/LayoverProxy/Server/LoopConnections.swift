import LayoverEngine
import NIOCore
import Synchronization

/// The connections of one loop: those with clients, and tunnels. Confined to it.
final class LoopConnections {
    private let metrics: LoopMetrics
    private var open: [Int: ClientConnection] = [:]
    /// Connections that were ever opened: the number of the newest.
    private var newestNumber = 0
    /// Those that have written since the last flush.
    private var unflushed: [ClientConnection] = []
    /// Streams among those that are open.
    private var streamCount = 0
    private var sessions = ArrivedObjects<HTTP2Session>()
    let tunnels: LoopTunnels

    init(metrics: LoopMetrics) {
        self.metrics = metrics
        tunnels = LoopTunnels(metrics: metrics)
    }

    var count: Int { open.count }

    /// The oldest first: what is done to many must not hang on the order of a dictionary.
    var inOrder: [ClientConnection] { inOrder { _ in true } }

    private func inOrder(where isWanted: (ClientConnection) -> Bool) -> [ClientConnection] {
        open.values.filter(isWanted).sorted { $0.number < $1.number }
    }

    func opened(_ connection: ClientConnection) {
        newestNumber += 1
        connection.number = newestNumber
        open[connection.number] = connection
        if connection.stream == nil { metrics.connectionCount.increment() } else { streamCount += 1 }
        countOpen()
    }

    func closed(_ connection: ClientConnection) {
        guard open.removeValue(forKey: connection.number) != nil else { return }
        if connection.stream != nil { streamCount -= 1 }
        countOpen()
    }

    func opened(_ session: HTTP2Session) {
        newestNumber += 1
        session.number = newestNumber
        sessions.insert(session)
        countOpen()
    }

    func closed(_ session: HTTP2Session) {
        sessions.remove(session)
        countOpen()
    }

    /// Connections of HTTP/2, whose streams are connections too. The oldest first.
    var allSessions: [HTTP2Session] { sessions.inOrder }

    private func countOpen() {
        metrics.openConnectionCount.store(open.count - streamCount + sessions.count, ordering: .relaxed)
    }

    func closeAll() {
        for connection in inOrder { connection.closeNow() }
        for session in allSessions { session.closeNow() }
        tunnels.closeAll()
    }

    // MARK: Writing

    /// Lets a connection be flushed at the end of the batch.
    func flushLater(_ connection: ClientConnection) { unflushed.append(connection) }

    func flush() {
        let connections = unflushed
        unflushed.removeAll(keepingCapacity: true)
        for connection in connections { connection.flushInTurn() }
    }

    // MARK: Time

    func tick(now: NIODeadline, coarseNow: NIODeadline, tunnelIdleMax: TimeAmount) {
        // A connection that was to be flushed outside of a batch would be held until the next one.
        flush()
        for connection in inOrder(where: { $0.wantsTick(now: now) }) { connection.tick(now: now) }
        for session in allSessions { session.tick(now: now) }
        tunnels.tick(now: now, coarseNow: coarseNow, idleMax: tunnelIdleMax)
    }

    // MARK: For tests

    /// Connections whose clients have closed their sending side.
    var halfClosedCount: Int { open.values.count(where: \.isInputClosed) }
    /// Connections that are kept alive from here: open ones, and those to be flushed.
    var heldCount: Int { open.count + unflushed.count }
    /// Connections whose head is being timed.
    var timedHeadCount: Int { open.values.count { $0.isHeadTimed } }
    /// Bytes of responses that wait for their clients.
    var untakenByteCount: Int { open.values.reduce(0) { $0 + $1.writtenByteCountLeft } }
}

/// Objects by their identity, in the order of their arrival. Work on many objects must not depend on their addresses in memory.
struct ArrivedObjects<Object: AnyObject> {
    private var places: [ObjectIdentifier: (number: Int, object: Object)] = [:]
    /// Objects that ever came: the number of the newest.
    private var newestNumber = 0

    var count: Int { places.count }
    /// In no order: for questions to which the order does not matter.
    var all: some Sequence<Object> { places.values.lazy.map(\.object) }
    /// The oldest first.
    var inOrder: [Object] { places.values.sorted { $0.number < $1.number }.map(\.object) }

    /// One that is there already keeps its place.
    mutating func insert(_ object: Object) {
        guard places[ObjectIdentifier(object)] == nil else { return }
        newestNumber += 1
        places[ObjectIdentifier(object)] = (newestNumber, object)
    }

    mutating func remove(_ object: Object) { places[ObjectIdentifier(object)] = nil }
}

/// The clients that are still to get their final response while the proxy is being stopped. Confined to their loop.
final class FinalResponses {
    private var awaited: Set<ObjectIdentifier> = []
    private var whenEmpty: EventLoopPromise<Void>?

    /// Succeeds when every client has its final response, or no more is waited for.
    func future(on eventLoop: any EventLoop) -> EventLoopFuture<Void> {
        let promise = whenEmpty ?? eventLoop.makePromise(of: Void.self)
        whenEmpty = promise
        return promise.futureResult
    }

    func await(_ exchange: any ConnectionTask) { awaited.insert(ObjectIdentifier(exchange)) }

    func isAwaited(_ exchange: any ConnectionTask) -> Bool { awaited.contains(ObjectIdentifier(exchange)) }

    /// - Returns: Whether it was awaited.
    @discardableResult
    func remove(_ exchange: any ConnectionTask) -> Bool {
        !awaited.isEmpty && awaited.remove(ObjectIdentifier(exchange)) != nil
    }

    func endIfEmpty() { if awaited.isEmpty { end() } }

    func end() {
        awaited = []
        let promise = whenEmpty
        whenEmpty = nil
        promise?.succeed()
    }
}
