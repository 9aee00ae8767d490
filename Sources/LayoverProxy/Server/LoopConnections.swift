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
