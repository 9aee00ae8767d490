import LayoverCore
import LayoverTestSupport
import Testing

@testable import LayoverUpstream

/// A server of this machine may serve one connection at a time: no connection stays open for a client that has left.
struct ClientLeftTests {
    @Test(arguments: [1, nil] as [Int?]) func idleConnectionIsClosedSoonAfterItsClientHasLeft(client: Int?) async throws {
        try await Path.$current.withValue(.direct) {
            let ended = Watched<[Int]>([])
            let origin = try MisbehavingOrigin { connection in
                while connection.readRequest() != nil { connection.answer() }
                ended.update { $0.append(connection.number) }
            }
            defer { origin.stop() }
            let rig = try UpstreamRig()
            let start = ContinuousClock.now
            let request = rig.request("GET", port: origin.port)
            #expect(await rig.start(request, client: client).ended().status == 200)
            // That of another client, which stays.
            #expect(await rig.start(request, needsFreshConnection: true, client: 2).ended().status == 200)
            if let client { try await rig.eventLoop.submit { rig.worker.clientLeft(client) }.get() }
            try await ended.wait("the end of a connection") { !$0.isEmpty }
            #expect(ended.value == [1])
            // Others may use it until then.
            #expect(ContinuousClock.now - start > .seconds(2.9))
            #expect(await rig.start(request, client: 3).ended().status == 200)
            #expect(origin.connections.count == 2)
            try await rig.stop()
        }
    }
}
