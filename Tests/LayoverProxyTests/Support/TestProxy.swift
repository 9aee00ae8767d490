import Foundation
import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Logging
import NIOCore
import NIOPosix
import Testing

@testable import LayoverProxy

/// A proxy on a real port, with a scripted upstream behind it and a clock that stands still.
struct TestProxy: Sendable {
    let upstream: ScriptedUpstream
    let engine: Engine
    let clock: ManualClock
    let server: ProxyServer
    let spool: BodySpool
    let port: Int
    let limit: ConnectionLimit
    /// The store of the proxy; nil for a proxy without tickets.
    let tickets: TestStore?

    var loop: ProxyLoop { server.loops[0] }

    func connect(readsByItself: Bool = true, receiveBuffer: CInt? = nil) async throws -> RawClient {
        try await RawClient.connect(port: port, readsByItself: readsByItself, receiveBuffer: receiveBuffer)
    }

    /// Sends one request on a connection of its own.
    func client(sending request: String) async throws -> RawClient {
        let client = try await connect()
        try await client.send(request)
        return client
    }

    /// One request, answered by the script.
    func answer(to request: String, toHead: Bool = false) async throws -> Answer {
        try await client(sending: request).answer(toHead: toHead)
    }

    func nextAttempt(_ what: String = "an attempt") async throws -> ScriptedAttempt {
        try await upstream.nextAttempt(what)
    }

    /// The configuration is read anew, in the order of `Reloader`.
    func reload(_ change: (inout ReloadableConfiguration) -> Void) async throws {
        var configuration = loop.configuration.reloadable
        change(&configuration)
        configuration.routes = await engine.adopt(configuration.routes)
        try await loop.adopt(configuration).get()
    }

    /// Until the loop and the engine have worked on what they were told before.
    func settle() async throws {
        for _ in 0..<2 {
            for loop in server.loops { try await loop.eventLoop.submit {}.get() }
            _ = await engine.counts()
        }
        for loop in server.loops { try await loop.eventLoop.submit {}.get() }
    }

    /// Sets the mode as the admin API does.
    func setMode(_ mode: ReachabilityMode, _ tunnels: OfflineTunnels = .freeze) async {
        _ = await engine.setMode(mode, reason: nil, tunnels: tunnels)
        await engine.untilLoopsCaughtUp()
    }

    /// Moves the engine's clock and lets it do what is due.
    func advance(by duration: Duration) async throws {
        clock.advance(by: duration)
        await engine.timerFired()
        try await settle()
    }

    /// Until the proxy has read the heads of so many requests, of all since its start.
    func waitForRequests(_ count: Int) async throws {
        let metrics = loop.metrics
        try await eventually("\(count) requests") { metrics.requestCount.current >= count }
    }

    /// Until a connection has read the beginning of a head.
    func waitForTimedHead() async throws {
        let loop = self.loop
        try await eventually("the beginning of a head") {
            try await loop.eventLoop.submit({ loop.connections.timedHeadCount }).get() > 0
        }
    }

    /// Until the end of what a client sends has come.
    func waitForClosedInput() async throws {
        let loop = self.loop
        try await eventually("the end of the client's input") {
            try await loop.eventLoop.submit({ loop.connections.halfClosedCount }).get() > 0
        }
    }

    /// Runs the loop's check of each second, as so long after the moment from which deadlines count. Without ticks of its own that moment
    /// does not depend on how long the test takes.
    func tick(in time: TimeAmount) async throws {
        for loop in server.loops { try await loop.eventLoop.submit { loop.tick(now: loop.coarseNow + time) }.get() }
    }

    /// The same, after which deadlines count from the later moment. Only without ticks of its own.
    func moveTime(by time: TimeAmount) async throws {
        for loop in server.loops {
            try await loop.eventLoop.submit {
                loop.coarseNow = loop.coarseNow + time
                loop.tick(now: loop.coarseNow)
            }.get()
        }
    }

    /// Waits until the only entry of the pending set, live or final, is in this state.
    func entry(_ state: EntryState = .waiting) async throws -> Entry {
        let (id, stream) = await engine.watchEvents()
        defer { Task { await engine.unwatch(id) } }
        let known = await engine.liveEntries() + (await engine.rememberedEntries())
        if let entry = known.first(where: { $0.state == state }) { return entry }
        let alarm = engine.eventLoop.scheduleTask(in: .seconds(60)) { [engine] in
            engine.assumeIsolated { $0.finishWatching() }
        }
        defer { alarm.cancel() }
        for await event in stream {
            if case .entry(_, let entry) = event.content, entry.state == state { return entry }
        }
        throw WaitedTooLong(what: "an entry that is \(state)")
    }

    /// Has the next attempt fail before anything of it is sent, and waits until its request is parked.
    @discardableResult
    func parkNext() async throws -> Entry {
        try await nextAttempt().fail()
        return try await entry()
    }

    func openConnectionCount() -> Int { loop.metrics.openConnectionCount.current }
}

/// Runs a proxy for one test, and checks in the end that it asked nothing impossible of its worker.
func withProxy(
    script: @escaping @Sendable (ScriptedAttempt) -> Void = { _ in },
    limits: PendingLimits = .init(), connectionCountMax: Int = 10_000, ticks: Bool = true, tickets: TestStore? = nil,
    accepts: Bool = true, configuration change: (inout ProxyConfiguration) -> Void = { _ in },
    _ test: (TestProxy) async throws -> Void
) async throws {
    var configuration = ProxyConfiguration()
    configuration.viaIdentity = "layover-0a1b2c3d"
    // So long that real time never reaches these limits, however slow the machine is.
    configuration.requestHeadTimeout = .seconds(3600)
    configuration.requestBodyTimeout = .seconds(7200)
    configuration.clientIdleTimeout = .seconds(7200)
    configuration.attempt.connect = .seconds(3600)
    if tickets != nil { configuration.noTickets = nil }
    change(&configuration)
    let clock = ManualClock()
    let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    let engine = Engine(
        eventLoop: MultiThreadedEventLoopGroup.singleton.next(), clock: clock, limits: limits,
        reachability: Reachability(hasProbe: false, now: clock.now()), store: tickets?.store,
        generator: SeededGenerator(seed: 1), abortMax: .seconds(60), logger: logger)
    let upstream = ScriptedUpstream(script: script)
    let folder = tickets?.folder ?? NSTemporaryDirectory() + "layover-proxy-" + UUID().uuidString
    let spool = BodySpool(folder: folder, byteCountMax: tickets?.spoolTotal ?? 1 << 30, threads: .singleton)
    if let tickets {
        spool.countStored(tickets.store.bodyByteCount)
        tickets.store.notifyRemoved { spool.removedStored($0) }
    }
    let own = OwnAddressGuard()
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let limit = ConnectionLimit(countMax: connectionCountMax)
    let loop = ProxyLoop(
        eventLoop: group.next(), engine: engine, configuration: configuration, spool: spool, addressGuard: own,
        connectionLimit: limit, logger: logger)
    try await loop.eventLoop.submit { try loop.start(with: upstream, ticks: ticks) }.get()
    await engine.register(loop)
    if let tickets { try await engine.restore(from: tickets.store, bootID: "test", routes: configuration.routes) }
    let server = try await ProxyServer.bind(to: .tcp(host: "127.0.0.1", port: 0), group: group, loops: [loop])
    let port = try #require(server.localPort)
    own.add(host: "127.0.0.1", port: port)
    if accepts { try await server.accept() }
    let proxy = TestProxy(
        upstream: upstream, engine: engine, clock: clock, server: server, spool: spool, port: port, limit: limit,
        tickets: tickets)
    do {
        try await test(proxy)
    } catch {
        Issue.record(error)
    }
    await engine.drain()
    await server.drain(within: .zero)
    #expect(upstream.complaints.isEmpty)
    #expect(upstream.record.value.shutDownCount == upstream.record.value.workerCount)
    try await group.shutdownGracefully()
    if tickets == nil { try? FileManager.default.removeItem(atPath: folder) }
}
