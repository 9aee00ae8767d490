import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverUpstream

/// Addresses that the guard refuses.
@Suite(.bothPaths)
struct AddressTests {
    /// Refuses one port, whatever the address, but for what the route allows.
    struct PortGuard: AddressGuard {
        var port: Int
        func refusal(of address: String, port: Int, allow: [String]) -> FailureKind? {
            port == self.port && !allow.contains(address) ? .destinationIPProhibited : nil
        }
        func refusal(ofLiteral host: String, port: Int, allow: [String]) -> FailureKind? { nil }
    }

    @Test(arguments: ["127.0.0.1", "localhost", "127.1", "0x7f000001", "2130706433"])
    func refusedAddressIsNotAnOutage(host: String) async throws {
        let origin = try MisbehavingOrigin { _ in }
        let rig = try UpstreamRig(guard: PortGuard(port: origin.port))
        for purpose in [UpstreamRequest.Purpose.transfer, .dial, .upgrade] {
            var request = rig.request("GET", port: origin.port, host: host)
            request.purpose = purpose
            let facts = await rig.send(request)
            facts.failure.expect(kind: .destinationIPProhibited, phase: .connecting, evidence: .neverSent, shutsGate: false)
        }
        #expect(origin.connections.isEmpty)
    }

    /// The connection stands already, made for a route that may; the other route must not get it.
    @Test func connectionToAnAllowedAddressIsNotReusedWhereItIsNotAllowed() async throws {
        let origin = try MisbehavingOrigin.answering()
        let rig = try UpstreamRig(guard: PortGuard(port: origin.port))
        var allowed = rig.request("GET", port: origin.port)
        allowed.allowAddresses = ["127.0.0.1"]
        var allowedByAnother = allowed
        allowedByAnother.allowAddresses = ["127.0.0.1", "::1"]
        #expect(await rig.send(allowed).status == 200)
        #expect(await rig.send(allowed).status == 200)
        #expect(await rig.send(allowedByAnother).status == 200)
        #expect(origin.connections.count == 1, "routes that may share it")
        let facts = await rig.send(rig.request("GET", port: origin.port, target: "/refused"))
        #expect(facts.events == ["failed"])
        facts.failure.expect(kind: .destinationIPProhibited, phase: .connecting, evidence: .neverSent)
        #expect(origin.count(of: "/refused") == 0)
        #expect(await rig.send(allowed).status == 200)
    }
}
