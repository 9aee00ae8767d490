import Foundation
import LayoverAdmin
import LayoverCore
import NIOCore
import NIOPosix
import Testing

@testable import layover

struct AdminClientTests {
    @Test(.liveAdmin) func answersAreDecoded() async throws {
        admin.park(1)
        let status = try await admin.client().send(AdminCall("/v1/status")).decoded(StatusDocument.self)
        #expect(status.counts["waiting"] == 1)
        #expect(status.version == LayoverVersion.current)
    }

    @Test(.liveAdmin) func problemsBecomeFailuresWithTheirDetail() async throws {
        let client = try admin.client()
        let unknown = await #expect(throws: CommandFailure.self) {
            _ = try await client.send(AdminCall("/v1/pending/\(String(repeating: "0", count: 32))"))
        }
        #expect(unknown?.code == .refused)
        #expect(unknown?.message == "No request has this id. (404); layover pending lists the requests that wait")
        let usage = await #expect(throws: CommandFailure.self) {
            _ = try await client.send(AdminCall("/v1/pending", query: [("state", "a&b ü")]))
        }
        #expect(usage?.code == .usage)
        #expect(usage?.message.contains("Unknown state 'a&b ü'") == true)
        let lines = await #expect(throws: CommandFailure.self) { try await client.lines(of: AdminCall("/v1/nowhere")) { _ in } }
        #expect(lines?.code == .refused)
    }

    @Test(.liveAdmin(token: "secret")) func tokenIsSent() async throws {
        let response = try await admin.client(token: "secret").send(AdminCall("/v1/status"))
        #expect(response.status == 200)
    }

    @Test func closedPortIsUnreachable() async throws {
        // Port 1 (tcpmux) needs root to listen and has no server on any system of today.
        let client = AdminClient(address: try AdminAddress("http://127.0.0.1:1"), token: nil)
        let failure = await #expect(throws: CommandFailure.self) { _ = try await client.send(AdminCall("/livez")) }
        #expect(failure?.code == .unreachable)
        let reason = "cannot reach Layover at http://127.0.0.1:1: Connection refused"
        #expect(failure?.message == reason + "; start it with layover run, or give its address with --admin-url")
    }

    @Test func peerThatClosesIsUnreachable() async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in channel.close() }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        let client = AdminClient(address: try AdminAddress("http://127.0.0.1:\(port)"), token: nil)
        let failure = await #expect(throws: CommandFailure.self) { _ = try await client.send(AdminCall("/livez")) }
        #expect(failure?.code == .unreachable)
        try await server.close()
    }

    @Test(.liveAdmin(heartbeat: .milliseconds(5))) func linesComeBeforeTheResponseEnds() async throws {
        admin.park(1)
        var reader = EventReader()
        var names: [String] = []
        var comments = 0
        // The server ends the stream when it is stopped, and only then does this return.
        try await admin.client().lines(of: .events) { line in
            if line.hasPrefix(":") { comments += 1 }
            // The engine reports the waiting count of the incident again after a while.
            if let event = reader.take(line), !event.name.hasPrefix("incident.") {
                names.append(event.name)
                if event.name == "snapshot" { admin.park(2) }
            }
            if names.count == 2, comments > 1 { await admin.stop() }
        }
        #expect(names == ["snapshot", "request.parked"])
    }

    @Test(.liveAdmin) func manyEntriesAreReadLineByLine() async throws {
        for number in 1...15 { admin.park(UInt64(number)) }
        var call = AdminCall("/v1/pending")
        call.accept = "application/jsonl"
        var ids: [String] = []
        try await admin.client().lines(of: call) { ids.append(try EntryLine.entry($0).id) }
        #expect(ids == (1...15).map { LiveAdmin.id(UInt64($0)).description })
    }

    @Test(.liveAdmin(token: "right"), arguments: [nil, "wrong"])
    func refusalForTheTokenNamesTheOption(token: String?) async throws {
        let client = AdminClient(address: try AdminAddress(admin.url), token: token.map { Secret($0) })
        let failure = await #expect(throws: CommandFailure.self) { _ = try await client.send(AdminCall("/v1/status")) }
        #expect(failure?.code == .refused)
        #expect(failure?.message == "the admin token is missing or wrong; give it by --token or LAYOVER_TOKEN (401)")
    }

    @Test(.liveAdmin) func unambiguousPrefixOfAnIDIsEnough() async throws {
        for number: UInt64 in [0xa1, 0xa2, 0xb] { admin.park(number) }
        let names = EntryNames(client: try admin.client())
        #expect(try await names.resolved("B0") == LiveAdmin.id(0xb).description)
        await #expect(throws: CommandFailure.self) { _ = try await names.resolved("c") }
        let whole = String(repeating: "c", count: 32)
        #expect(try await names.resolved([whole]) == [whole])
        let failure = await #expect(throws: CommandFailure.self) { _ = try await names.resolved("a") }
        #expect(failure?.code == .refused)
        #expect(failure?.message.hasPrefix("2 requests") == true)
    }
}
