import Glibc
import LayoverCore
import LayoverEngine
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverUpstream

/// Connections for CONNECT.
@Suite(.bothPaths)
struct DialTests {
    private func dial(_ rig: UpstreamRig, host: String = "127.0.0.1", port: Int) -> UpstreamRequest {
        var request = rig.request(
            "CONNECT", port: port, scheme: .tunnel, host: host, target: "\(host):\(port)")
        request.purpose = .dial
        request.mayBeSentTwice = true
        return request
    }

    /// The caller sends the request of an upgrade on the connection; libcurl must not.
    @Test(arguments: [(false, false), (true, false), (false, true)])
    func connectedSocketIsHandedOver(usesIPv6: Bool, isUpgrade: Bool) async throws {
        let origin = try MisbehavingOrigin(usingIPv6: usesIPv6) { connection in
            guard let hello = connection.read(5) else { return }
            connection.write(hello.reversed())
            connection.readToEnd()
        }
        let rig = try UpstreamRig()
        var request = dial(rig, host: usesIPv6 ? "::1" : "127.0.0.1", port: origin.port)
        if isUpgrade {
            request = rig.request("GET", port: origin.port, target: "/chat", fields: ["Connection: Upgrade", "Upgrade: websocket"])
            request.purpose = .upgrade
        }
        let facts = await rig.send(request)
        #expect(facts.events == ["dialled"])
        let descriptor = try #require(facts.dialled)
        // libcurl has let go of it, and nobody else hears of what happens there.
        let refusingPort = try ListeningSocket.refusingPort()
        #expect(await rig.send(rig.request("GET", port: refusingPort)).failure != nil)
        #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
        #expect(write(descriptor, "hello", 5) == 5)
        var response = [UInt8](repeating: 0, count: 5)
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        #expect(Glibc.poll(&poll, 1, 25_000) == 1)
        #expect(read(descriptor, &response, 5) == 5)
        #expect(String(decoding: response, as: UTF8.self) == "olleh")
        close(descriptor)
        // Only the bytes of the tunnel arrived, no HTTP and no TLS.
        #expect(origin.received == ["hello"])
    }

    @Test func eachDialMakesItsOwnConnection() async throws {
        let origin = try MisbehavingOrigin.answering()
        let rig = try UpstreamRig()
        _ = await rig.send(rig.request("GET", port: origin.port))
        let first = await rig.send(dial(rig, port: origin.port))
        let second = await rig.send(dial(rig, port: origin.port))
        // A transfer never gets a dialled connection either.
        #expect(await rig.send(rig.request("GET", port: origin.port)).status == 200)
        // The origin's thread may take the last one later than the kernel.
        try await eventually("three connections at the origin") { origin.connections.count >= 3 }
        #expect(origin.connections.count == 3)
        for descriptor in [first.dialled, second.dialled] { close(try #require(descriptor)) }
    }

    /// A dial does not spoil its handle for the requests that follow.
    @Test func handleOfADialServesRequestsAgain() async throws {
        let origin = try MisbehavingOrigin.answering()
        let rig = try UpstreamRig { $0.spareTransferCountMax = 1 }
        close(try #require(await rig.send(dial(rig, port: origin.port)).dialled))
        for _ in 1...2 { #expect(await rig.send(rig.request("GET", port: origin.port)).status == 200) }
        #expect(origin.connections.count == 2)
    }
}
