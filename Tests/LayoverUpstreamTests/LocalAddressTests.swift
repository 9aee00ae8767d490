import Glibc
import LayoverCore
import LayoverEngine
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverUpstream

/// Connections whose address is taken away from this machine.
@Suite(.bothPaths)
struct LocalAddressTests {
    /// IP_FREEBIND binds to an address that the machine does not have.
    @Test(arguments: [("127.0.0.1", false), ("127.9.9.9", false), ("192.0.2.77", true)])
    func missingAddressIsFound(address text: String, isGone: Bool) throws {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var one: CInt = 1
        #expect(setsockopt(descriptor, CInt(IPPROTO_IP), IP_FREEBIND, &one, 4) == 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr(text)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        #expect(result == 0)
        #expect(LocalAddress.isGone(from: descriptor) == isGone)
        #expect(try LocalAddress.isGone(SocketAddress(ipAddress: text, port: 4711)) == isGone)
        #expect(!LocalAddress.isGone(from: -1))
        #expect(try !LocalAddress.isGone(SocketAddress(unixDomainSocketPath: "/tmp/none")))
    }

    /// A real link between two namespaces. The origin hangs; the address goes; nothing but the change can end the attempt.
    @Test(.timeLimit(.minutes(3))) func attemptOnAnAddressThatIsGoneEndsAtOnce() async throws {
        guard await NetworkPair.isPermitted(orSkip: "no loss of an address") else { return }
        try await NetworkPair.with { try await loseTheAddress(over: $0) }
    }

    private func loseTheAddress(over network: NetworkPair) async throws {
        let path = Path.current
        let arrived = Signal()
        let rig = try await onOwnThread {
            try NetworkNamespace.enter(network.name(.near))
            // The threads of the upstream start here, so that they are in the namespace too.
            return try Path.$current.withValue(path) { try UpstreamRig() }
        }
        let origin = try await onOwnThread {
            try NetworkNamespace.enter(network.name(.far))
            return try MisbehavingOrigin(onAllAddresses: true) { connection in
                while let (head, _) = connection.readRequest() {
                    guard head.contains("/ready") else { break }
                    connection.answer()
                }
                arrived.fire()
                connection.readToEnd()
            }
        }
        defer { origin.stop() }
        let host = NetworkPair.farAddress
        // The kernel takes up to a second until a link that is up has its carrier.
        let deadline = Deadline(in: .seconds(20))
        while await rig.send(rig.request("GET", port: origin.port, host: host, target: "/ready")).failure != nil, !deadline.hasPassed {}
        let record = rig.start(rig.request("POST", port: origin.port, host: host))
        #expect(await arrived.happened())
        try await rig.eventLoop.submit { rig.worker.networkChanged() }.get()
        // The address is still there.
        #expect(record.facts.failure == nil)
        try await network.removeNearAddress()
        try await rig.eventLoop.submit { rig.worker.networkChanged() }.get()
        let failure = try #require(await record.ended().failure)
        #expect(failure.kind == .connectionTerminated)
        #expect(failure.evidence == .maybeApplied)
        #expect(failure.message == FailureReason.localAddressGone(isAnswered: false).message)
        try await rig.stop()
    }
}
