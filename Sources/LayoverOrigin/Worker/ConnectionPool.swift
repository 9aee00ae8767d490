import LayoverCore
import LayoverEngine
import NIOCore

/// The idle connections of one loop, by origin, the newest used first. Confined to its loop.
final class ConnectionPool {
    /// The idle connections to one origin, the newest last.
    private final class Shelf {
        var connections: [DirectConnection] = []
        /// Those that are for one client only.
        var boundCount = 0
    }

    private let options: DirectOptions
    private let eventLoop: any EventLoop
    private var shelves: [Origin: Shelf] = [:]
    /// Most requests go where the one before went.
    private var latest: (origin: Origin, shelf: Shelf)?
    private(set) var count = 0
    private var pruning: Scheduled<Void>?
    /// Closes connections to servers of this machine whose clients have left.
    private var leaving: Scheduled<Void>?
    private var leavingAt = NIODeadline.distantFuture

    init(options: DirectOptions, eventLoop: any EventLoop) {
        self.options = options
        self.eventLoop = eventLoop
    }

    private func shelf(of origin: Origin) -> Shelf? {
        if let latest, latest.origin == origin { return latest.shelf }
        guard let shelf = shelves[origin] else { return nil }
        latest = (origin, shelf)
        return shelf
    }

    // MARK: Use

    /// Takes out a connection that may carry the attempt. The client's own is preferred, where it has one.
    func take(for attempt: UpstreamAttempt) -> DirectConnection? {
        guard count > 0, let shelf = shelf(of: attempt.request.peer), !shelf.connections.isEmpty else { return nil }
        let oldest = attempt.request.mayBeSentTwice ? nil : eventLoop.now - TimeAmount(options.idleForUnrepeatableMax)
        if shelf.boundCount > 0, attempt.client != nil,
            let index = shelf.connections.lastIndex(where: { $0.boundClient == attempt.client && $0.mayCarry(attempt, idleSince: oldest) })
        {
            return take(at: index, from: shelf)
        }
        guard let index = shelf.connections.lastIndex(where: { $0.boundClient == nil && $0.mayCarry(attempt, idleSince: oldest) })
        else { return nil }
        return take(at: index, from: shelf)
    }

    private func take(at index: Int, from shelf: Shelf) -> DirectConnection {
        count -= 1
        let connection = index == shelf.connections.count - 1 ? shelf.connections.removeLast() : shelf.connections.remove(at: index)
        connection.idleSince = nil
        if connection.boundClient != nil { shelf.boundCount -= 1 }
        return connection
    }

    /// Holds a connection for a later request. Beyond a limit the oldest one goes.
    func holdForReuse(_ connection: DirectConnection) {
        let shelf = shelf(of: connection.peer) ?? makeShelf(for: connection.peer)
        if shelf.connections.count >= options.idleConnectionsPerOriginMax { shelf.connections.first?.close() }
        if count >= options.idleConnectionCountMax { oldest?.close() }
        connection.idleSince = eventLoop.now
        shelf.connections.append(connection)
        count += 1
        if connection.boundClient != nil { shelf.boundCount += 1 }
        if pruning == nil { schedulePruning() }
        if connection.hasClientLeft { clientLeft(of: connection) }
    }

    /// The client that used a connection last has left.
    func clientLeft(of connection: DirectConnection) {
        guard let idleSince = connection.idleSince, connection.isToLoopback else { return }
        scheduleLeaving(at: idleSince + TimeAmount(options.idleWithoutClientMax))
    }

    private func makeShelf(for origin: Origin) -> Shelf {
        let shelf = Shelf()
        shelves[origin] = shelf
        latest = (origin, shelf)
        return shelf
    }

    private var oldest: DirectConnection? {
        shelves.values.compactMap(\.connections.first).min { ($0.idleSince ?? .distantFuture) < ($1.idleSince ?? .distantFuture) }
    }

    /// Forgets a connection that has closed, if it is here.
    func remove(_ connection: DirectConnection) {
        guard connection.idleSince != nil, let shelf = shelf(of: connection.peer),
            let index = shelf.connections.lastIndex(where: { $0 === connection })
        else { return }
        _ = take(at: index, from: shelf)
    }

    // MARK: Age

    private func scheduleLeaving(at deadline: NIODeadline) {
        guard deadline < leavingAt else { return }
        leaving?.cancel()
        leavingAt = deadline
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        leaving = eventLoop.scheduleTask(deadline: deadline) { bound.value.closeThoseLeft() }
    }

    private func closeThoseLeft() {
        leaving = nil
        leavingAt = .distantFuture
        let limit = eventLoop.now - TimeAmount(options.idleWithoutClientMax)
        for connection in shelves.values.flatMap(\.connections) where connection.hasClientLeft && connection.isToLoopback {
            if let idleSince = connection.idleSince, idleSince > limit { clientLeft(of: connection) } else { connection.close() }
        }
    }

    func closeAll() {
        for connection in shelves.values.flatMap(\.connections) { connection.close() }
        leaving?.cancel()
        leaving = nil
        leavingAt = .distantFuture
        prune()
    }

    private func schedulePruning() {
        // Often enough that none gets much older, and seldom enough not to keep a sleeping machine busy.
        let interval = max(.milliseconds(500), min(TimeAmount(options.idleConnectionAgeMax), .seconds(5)))
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        pruning = eventLoop.scheduleTask(in: interval) { bound.value.prune() }
    }

    private func prune() {
        pruning?.cancel()
        pruning = nil
        let limit = eventLoop.now - TimeAmount(options.idleConnectionAgeMax)
        for shelf in shelves.values {
            for connection in shelf.connections.prefix(while: { ($0.idleSince ?? limit) <= limit }) { connection.close() }
        }
        shelves = shelves.filter { !$0.value.connections.isEmpty }
        latest = nil
        if count > 0 { schedulePruning() }
    }
}
