import LayoverCore
import LayoverTestSupport
import Testing

@testable import LayoverOrigin
@testable import LayoverUpstream

/// A server of this machine may serve one connection at a time: no connection stays open for a client that has left.
@Suite(.directPath)
struct ClientLeftTests {
    /// With the time that the product has by default.
    private func rig() throws -> UpstreamRig { try Path.$idleWithoutClientMax.withValue(.seconds(3)) { try UpstreamRig() } }

    @Test(arguments: [(1, false), (nil, false), (1, true)] as [(Int?, Bool)])
    func idleConnectionIsClosedSoonAfterItsClientHasLeft(client: Int?, usingIPv6: Bool) async throws {
        let ended = Watched<[Int]>([])
        let origin = try MisbehavingOrigin(usingIPv6: usingIPv6) { connection in
            while connection.readRequest() != nil { connection.answer() }
            ended.update { $0.append(connection.number) }
        }
        let rig = try rig()
        let start = ContinuousClock.now
        let request = rig.request("GET", port: origin.port, host: usingIPv6 ? "::1" : "127.0.0.1")
        #expect(await rig.start(request, client: client).ended().status == 200)
        // The connection of another client, which stays.
        #expect(await rig.start(request, needsFreshConnection: true, client: 2).ended().status == 200)
        if let client { try await rig.eventLoop.submit { rig.worker.clientLeft(client) }.get() }
        try await ended.wait("the end of a connection") { !$0.isEmpty }
        #expect(ended.value == [1])
        // Others may use it until then.
        #expect(ContinuousClock.now - start > .seconds(2.9))
        #expect(await rig.start(request, client: 3).ended().status == 200)
        #expect(origin.connections.count == 2)
    }

    /// Before, each client that left cost a look at every connection: here 2 000 looks.
    @Test func costOfClientsThatLeaveDoesNotGrowWithTheirNumber() async throws {
        let ended = Watched(0)
        let origin = try MisbehavingOrigin { connection in
            while connection.readRequest() != nil { connection.answer() }
            ended.update { $0 += 1 }
        }
        let rig = try rig()
        let request = rig.request("GET", port: origin.port)
        for client in 1...2 { #expect(await rig.start(request, needsFreshConnection: true, client: client).ended().status == 200) }
        try await rig.eventLoop.submit { for client in 1...1_000 { rig.worker.clientLeft(client) } }.get()
        try await ended.wait("the end of both connections") { $0 == 2 }
        let worker = try #require(rig.worker as? DirectWorker)
        #expect(try await rig.eventLoop.submit { worker.leftClientsLookCount }.get() == 2)
    }
}
