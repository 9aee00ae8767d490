import Dispatch
import LayoverCore
import LayoverTestSupport
import Testing

@testable import LayoverOrigin
@testable import LayoverUpstream

/// A server of this machine may serve one connection at a time: no connection stays open for a client that has left.
@Suite(.bothPaths)
struct ClientLeftTests {
    /// With the time that the product has by default.
    private func rig() throws -> UpstreamRig { try Path.$idleWithoutClientMax.withValue(.seconds(3)) { try UpstreamRig() } }

    /// An origin that answers each request, and notes the numbers of the connections that have ended.
    private func origin(usingIPv6: Bool = false, ended: Watched<[Int]>) throws -> MisbehavingOrigin {
        try MisbehavingOrigin(usingIPv6: usingIPv6) { connection in
            while connection.readRequest() != nil { connection.answer() }
            ended.update { $0.append(connection.number) }
        }
    }

    /// A request of a route with `http2` is made by libcurl on both paths.
    @Test(arguments: [(1, false, false), (nil, false, false), (1, true, false), (1, false, true)] as [(Int?, Bool, Bool)])
    func idleConnectionIsClosedSoonAfterItsClientHasLeft(client: Int?, usingIPv6: Bool, supportsHTTP2: Bool) async throws {
        let ended = Watched<[Int]>([])
        let origin = try origin(usingIPv6: usingIPv6, ended: ended)
        let rig = try rig()
        let start = ContinuousClock.now
        var request = rig.request("GET", port: origin.port, host: usingIPv6 ? "::1" : "127.0.0.1")
        request.supportsHTTP2 = supportsHTTP2
        #expect(await rig.start(request, client: client).ended().status == 200)
        // The connection of another client, which stays.
        #expect(await rig.start(request, needsFreshConnection: true, client: 2).ended().status == 200)
        if let client { try await rig.eventLoop.submit { rig.worker.clientLeft(client) }.get() }
        try await ended.wait("the end of a connection") { !$0.isEmpty }
        #expect(ended.value == [1])
        // Others may use it until then. Other idle connections are closed after 55 s.
        #expect(ContinuousClock.now - start > .seconds(2.9))
        #expect(ContinuousClock.now - start < .seconds(25))
        #expect(await rig.start(request, client: 3).ended().status == 200)
        #expect(origin.connections.count == 2)
    }

    /// The client of an attempt that may have been applied leaves before the response, and the attempt goes on.
    @Test func connectionInUseIsClosedSoonAfterItsAttempt() async throws {
        let ended = Watched<[Int]>([])
        let requestCount = Watched(0)
        let answers = DispatchSemaphore(value: 0)
        let origin = try MisbehavingOrigin { connection in
            while let request = connection.readRequest() {
                requestCount.update { $0 += 1 }
                if request.head.contains("/slow") { answers.wait() }
                connection.answer()
            }
            ended.update { $0.append(connection.number) }
        }
        let rig = try rig()
        let attempt = rig.start(rig.request("GET", port: origin.port, target: "/slow"), client: 1)
        try await requestCount.wait("the slow request") { $0 == 1 }
        #expect(await rig.start(rig.request("GET", port: origin.port), client: 2).ended().status == 200)
        try await rig.eventLoop.submit { for client in 1...2 { rig.worker.clientLeft(client) } }.get()
        try await ended.wait("the end of the idle connection") { !$0.isEmpty }
        #expect(ended.value == [2])
        let start = ContinuousClock.now
        answers.signal()
        #expect(await attempt.ended().status == 200)
        try await ended.wait("the end of the connection") { $0 == [2, 1] }
        #expect(ContinuousClock.now - start > .seconds(2.9))
        #expect(ContinuousClock.now - start < .seconds(25))
    }

    /// The client of a request that becomes a ticket leaves while the name of the origin is looked up.
    @Test func connectionIsClosedSoonIfItsClientLeftBeforeItWasMade() async throws {
        let ended = Watched<[Int]>([])
        let origin = try origin(ended: ended)
        let gate = Signal()
        let lookup = ScriptedLookup(.addresses("127.0.0.1"), gate: gate)
        let rig = try Path.$idleWithoutClientMax.withValue(.seconds(3)) { try UpstreamRig(resolver: lookup.resolver()) }
        let attempt = rig.start(rig.request("GET", port: origin.port, host: "origin.test"), client: 1)
        try await lookup.asked.wait("the lookup") { !$0.isEmpty }
        #expect(await rig.start(rig.request("GET", port: origin.port), client: 2).ended().status == 200)
        attempt.attempt?.clientLeft()
        try await rig.eventLoop.submit { for client in 1...2 { rig.worker.clientLeft(client) } }.get()
        // The workers have been told by then.
        try await ended.wait("the end of the idle connection") { $0 == [1] }
        gate.fire()
        #expect(await attempt.ended().status == 200)
        let start = ContinuousClock.now
        try await ended.wait("the end of the connection") { $0 == [1, 2] }
        #expect(ContinuousClock.now - start < .seconds(25))
    }

    @Test func connectionStaysForTheClientThatUsedItLast() async throws {
        let ended = Watched<[Int]>([])
        let origin = try origin(ended: ended)
        let rig = try rig()
        let request = rig.request("GET", port: origin.port)
        for client in 1...2 { #expect(await rig.start(request, client: client).ended().status == 200) }
        #expect(await rig.start(request, needsFreshConnection: true, client: 1).ended().status == 200)
        try await rig.eventLoop.submit { rig.worker.clientLeft(1) }.get()
        try await ended.wait("the end of a connection") { !$0.isEmpty }
        #expect(ended.value == [2])
        #expect(await rig.start(request, client: 2).ended().status == 200)
        #expect(origin.connections.count == 2)
    }

    /// Before, each client that left cost a look at every connection: here 2 000 looks.
    @Test func costOfClientsThatLeaveDoesNotGrowWithTheirNumber() async throws {
        let ended = Watched<[Int]>([])
        let origin = try origin(ended: ended)
        let rig = try rig()
        let request = rig.request("GET", port: origin.port)
        for client in 1...2 { #expect(await rig.start(request, needsFreshConnection: true, client: client).ended().status == 200) }
        try await rig.eventLoop.submit { for client in 1...1_000 { rig.worker.clientLeft(client) } }.get()
        try await ended.wait("the end of both connections") { $0.count == 2 }
        // The commands to libcurl's thread are gathered alike.
        guard let worker = rig.worker as? DirectWorker else { return }
        #expect(try await rig.eventLoop.submit { worker.leftClientsLookCount }.get() == 2)
    }
}
