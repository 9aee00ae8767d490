import LayoverCore
import LayoverEngine
import NIOCore

/// The workers that make the attempts of one loop. Confined to it.
final class LoopWorkers {
    private let eventLoop: any EventLoop
    private var upstream: (any Upstream)?
    private var batchEnded: @Sendable () -> Void = {}
    /// Makes the attempts of clients and of the cache. Nil once the loop is shut down.
    private(set) var first: (any UpstreamWorker)?
    /// Make the attempts of tickets, where these would block others until their start is recorded on disk.
    private var forTickets: [any UpstreamWorker] = []
    /// Attempts of tickets so far: the workers take them in turn.
    private var ticketAttemptCount = 0

    /// Most workers for tickets, made as they are needed: the starts of so many attempts are recorded together. Default: 4.
    private static let forTicketsMax = 4

    init(eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    /// - Parameter batchEnded: Called on the loop after each group of events.
    func start(with upstream: any Upstream, batchEnded: @escaping @Sendable () -> Void) throws {
        self.upstream = upstream
        self.batchEnded = batchEnded
        first = try upstream.makeWorker(for: eventLoop, batchEnded: batchEnded)
    }

    /// Nil once the loop is shut down, or when there are no more threads to be had.
    func nextForTickets() -> (any UpstreamWorker)? {
        guard upstream?.blocksForPermits == true else { return first }
        ticketAttemptCount += 1
        if forTickets.count < Self.forTicketsMax, ticketAttemptCount > forTickets.count,
            let worker = try? upstream?.makeWorker(for: eventLoop, batchEnded: batchEnded)
        {
            forTickets.append(worker)
            return worker
        }
        return forTickets.isEmpty ? nil : forTickets[ticketAttemptCount % forTickets.count]
    }

    private var all: [any UpstreamWorker] { forTickets + (first.map { [$0] } ?? []) }

    /// Measures how long each worker takes to hear of a command.
    func measureLag(by clock: any EngineClock, into meter: DelayMeter) {
        let asked = clock.now()
        for worker in all { worker.ping { meter.add(clock.now() - asked) } }
    }

    var connectionCounts: [Origin: ConnectionCount] { all.reduce(into: [:]) { $0.add($1.connectionCounts) } }

    func networkChanged() { for worker in all { worker.networkChanged() } }

    func clientLeft(_ client: Int) { first?.clientLeft(client) }

    /// - Returns: The workers. Their last attempts have reported their ends once the workers have ended.
    func shutDown() -> [any UpstreamWorker] {
        let workers = all
        for worker in workers { worker.shutDown() }
        first = nil
        forTickets = []
        upstream = nil
        return workers
    }
}

/// A loop's view of origins and of the network, as the engine announced it. A stale view is harmless: the engine looks again.
struct NetworkView {
    /// Origins that are or were in trouble.
    private var notices: [Origin: OriginNotice] = [:]
    var isOffline = false
    /// That of the network as a whole.
    var condition = NetworkCondition()

    mutating func announce(_ origin: Origin, _ notice: OriginNotice) { notices[origin] = notice == .forgotten ? nil : notice }

    /// Whether nothing is known of any origin that a request would have to look at.
    var isQuiet: Bool { !isOffline && notices.isEmpty }

    /// Nil on the fast path: nothing waits for the origin and its gate is open.
    func notice(for origin: Origin) -> OriginNotice? {
        if isOffline { return .shut }
        return notices.isEmpty ? nil : notices[origin]
    }

    /// The same, with what is known of the parent proxy.
    func notice(for request: UpstreamRequest) -> OriginNotice? {
        let own = notice(for: request.origin)?.forRequests(through: request.parentProxy?.gate)
        guard own != .shut, !notices.isEmpty, let gate = request.parentProxy?.gate, let above = notices[gate] else { return own }
        return above == .shut ? above : own ?? above
    }
}
