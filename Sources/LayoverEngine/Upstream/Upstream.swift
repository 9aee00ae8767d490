package import LayoverCore
package import NIOCore

/// The seam between the proxy and the client library that reaches servers.
package protocol Upstream: Sendable {
    /// Whether a worker blocks while it waits for the permit of an attempt (`UpstreamAttempt.permit`).
    var blocksForPermits: Bool { get }

    /// Makes the worker of one event loop.
    ///
    /// - Parameter batchEnded: Called on the loop after each group of events, so that writes can be
    ///   flushed once a group.
    func makeWorker(
        for eventLoop: any EventLoop, batchEnded: @escaping @Sendable () -> Void
    ) throws -> any UpstreamWorker
}

/// Makes the attempts of one event loop. All calls come from that loop and return at once.
package protocol UpstreamWorker: AnyObject, Sendable {
    func start(_ attempt: UpstreamAttempt)
    /// Aborts the attempt. It still ends with one last event, which carries the evidence.
    func cancel(_ attempt: UpstreamAttempt)
    /// Aborts the attempt if its connection is not open yet; otherwise does nothing.
    func cancelIfConnecting(_ attempt: UpstreamAttempt)
    /// Goes on receiving after a pause, when `bytesOutstanding` has fallen.
    func resumeReceiving(_ attempt: UpstreamAttempt)
    /// Calls back on the thread of the worker as soon as it comes to that. Default: at once.
    func ping(_ reply: @escaping @Sendable () -> Void)
    /// The open connections of the worker. Default: none.
    var connectionCounts: [Origin: ConnectionCount] { get }
    /// The worker uses no connection and no name that is older than this call. Attempts on a connection whose address is gone end.
    func networkChanged()
    /// The client of that number (`UpstreamAttempt.client`) has closed its connection. Default: nothing is done.
    func clientLeft(_ client: Int)
    /// Ends the thread once its last attempt has ended; running ones are aborted.
    func shutDown()
    /// Blocks until the thread has ended, and every attempt has got its last event. Never called on an event
    /// loop. Default: there is no thread.
    func waitUntilEnded()
}

extension UpstreamWorker {
    package func ping(_ reply: @escaping @Sendable () -> Void) { reply() }
    package func waitUntilEnded() {}
    package var connectionCounts: [Origin: ConnectionCount] { [:] }
    package func clientLeft(_ client: Int) {}
}

/// The clients that have left within a pause. One look at the connections serves all of them, so that its cost does not grow with their
/// number; an index by client would have to change with each request. Confined to its loop.
package final class LeftClients {
    /// Default: 500 ms.
    private static let pause = TimeAmount.milliseconds(500)

    /// Called at the end of a pause, with the clients that have left since its begin.
    package var whenGathered: (Set<Int>) -> Void = { _ in }
    private let eventLoop: any EventLoop
    private var clients: Set<Int> = []
    private var timer: Scheduled<Void>?
    private var isStopped = false

    package init(eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    package func add(_ client: Int) {
        guard !isStopped else { return }
        clients.insert(client)
        guard timer == nil else { return }
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        timer = eventLoop.scheduleTask(in: Self.pause) { bound.value.endPause() }
    }

    private func endPause() {
        timer = nil
        let gathered = clients
        clients.removeAll()
        whenGathered(gathered)
    }

    /// No clients are gathered from now on.
    package func stop() {
        isStopped = true
        timer?.cancel()
        timer = nil
    }
}

/// The connections to one origin, or to a parent proxy.
package struct ConnectionCount: Sendable, Hashable {
    /// Those that are open, idle ones included.
    package var open = 0
    /// Requests under way on them. A connection carries one at a time, by HTTP/2 too.
    package var busy = 0

    package init(open: Int = 0, busy: Int = 0) { (self.open, self.busy) = (open, busy) }

    package static func += (count: inout Self, more: Self) {
        count.open += more.open
        count.busy += more.busy
    }
}

extension [Origin: ConnectionCount] {
    package mutating func add(_ others: Self) { for (origin, count) in others { self[origin, default: .init()] += count } }

    package var total: ConnectionCount { values.reduce(into: .init()) { $0 += $1 } }
}
