import Glibc
import LayoverCore
import LayoverEngine
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverUpstream

/// Attempts whose origin has a name, with a resolver that does what the test says.
@Suite(.bothPaths)
struct ResolvingTests {
    private let gate = Signal()
    private let origin: MisbehavingOrigin

    init() throws { origin = try MisbehavingOrigin.answering() }

    private static let here = NameOutcome.addresses("127.0.0.1")

    // MARK: Single flight, kept responses

    @Test func aHundredAttemptsForANameShareOneLookup() async throws {
        let lookup = ScriptedLookup(Self.here, gate: gate)
        let resolver = lookup.resolver()
        let rigs = try [UpstreamRig(resolver: resolver), UpstreamRig(resolver: resolver)]
        let records = (0..<100).map { number in
            let rig = rigs[number % 2]
            return rig.start(
                rig.request(number % 3 == 0 ? "POST" : "GET", port: origin.port, host: "origin.test"))
        }
        try await lookup.asked.wait("a lookup") { !$0.isEmpty }
        gate.fire()
        for record in records { #expect(await record.ended().status == 200) }
        #expect(lookup.asked.value == ["origin.test"])
        #expect(origin.received.allSatisfy { $0.contains("Host: origin.test:\(origin.port)\r\n") })
    }

    @Test func knownNameIsNotResolvedAgain() async throws {
        let lookup = ScriptedLookup(Self.here, .failed(.unknown))
        let rig = try UpstreamRig(resolver: lookup.resolver())
        for method in ["GET", "POST", "POST", "GET"] {
            #expect(await rig.send(rig.request(method, port: origin.port, host: "origin.test")).status == 200)
        }
        var dial = rig.request("CONNECT", port: origin.port, scheme: .tunnel, host: "origin.test")
        dial.purpose = .dial
        close(try #require(await rig.send(dial).dialled))
        #expect(lookup.asked.value == ["origin.test"])
    }

    /// The name has moved: nothing listens at its old address.
    @Test func connectFailureMakesTheNextAttemptAskAgain() async throws {
        let lookup = ScriptedLookup(.addresses("127.0.0.9"), Self.here)
        let rig = try UpstreamRig(resolver: lookup.resolver(nameAgeMax: .seconds(60)))
        let request = rig.request("POST", port: origin.port, host: "origin.test")
        let first = await rig.send(request)
        #expect(first.failure?.kind == .connectionRefused)
        #expect(await rig.send(request).status == 200)
        #expect(lookup.asked.value == ["origin.test", "origin.test"])
        // The new address is good, so it is kept.
        #expect(await rig.send(request, needsFreshConnection: true).status == 200)
        #expect(lookup.asked.value.count == 2)
    }

    @Test func aKeptAliveConnectionNeedsNoResolver() async throws {
        let lookup = ScriptedLookup(Self.here, .failed(.noResolver))
        // Known addresses are dropped at once.
        let rig = try UpstreamRig(resolver: lookup.resolver(nameAgeMax: .zero))
        let request = rig.request("GET", port: origin.port, host: "origin.test")
        for _ in 1...3 { #expect(await rig.send(request).status == 200) }
        #expect(lookup.asked.value.count == 1)
        #expect(origin.connections.count == 1)
        // A new connection does, and what libcurl still has is not used.
        let facts = await rig.send(request, needsFreshConnection: true)
        #expect(facts.failure?.kind == .dnsError)
        #expect(lookup.asked.value.count == 2)
    }

    @Test func deadConnectionResolvesTheNameDuringTheAttempt() async throws {
        let origin = try DoubleSendTests.closingOrigin()
        let lookup = ScriptedLookup(Self.here)
        let rig = try UpstreamRig(resolver: lookup.resolver(nameAgeMax: .zero))
        let request = rig.request("GET", port: origin.port, host: "origin.test")
        #expect(await rig.send(request).status == 200)
        let facts = await rig.send(request)
        guard Path.current == .libcurl else {
            #expect(facts.failure?.isStaleConnection == true)
            return
        }
        #expect(facts.status == 200)
        #expect(facts.sendings == 2)
        #expect(facts.terminalCount == 1)
        #expect(lookup.asked.value.count == 2)
    }

    @Test func aDeadConnectionWhoseNameIsLostMayHaveDelivered() async throws {
        let origin = try DoubleSendTests.closingOrigin()
        let lookup = ScriptedLookup(Self.here, .failed(.unknown))
        let rig = try UpstreamRig(resolver: lookup.resolver(nameAgeMax: .zero))
        let request = rig.request("GET", port: origin.port, host: "origin.test")
        #expect(await rig.send(request).status == 200)
        let failure = try #require(await rig.send(request).failure)
        #expect(failure.evidence == .maybeApplied)
        #expect(failure.kind == .connectionTerminated)
        #expect(!failure.isNameUnknown)
    }

    // MARK: Failures

    @Test(arguments: [
        (NameFailure.unknown, FailureKind.dnsError, true), (.noAddress, .dnsError, false),
        (.noResolver, .dnsError, false), (.refused, .dnsError, false), (.system(24), .dnsError, false),
        (.busy, .dnsTimeout, false),
    ])
    func failuresAreDistinguished(failure: NameFailure, kind: FailureKind, isUnknown: Bool) async throws {
        let rig = try UpstreamRig(resolver: ScriptedLookup(.failed(failure)).resolver())
        for purpose in [UpstreamRequest.Purpose.transfer, .dial] {
            for method in ["GET", "POST"] {
                var request = rig.request(method, port: 80, host: "origin.test")
                request.purpose = purpose
                let facts = await rig.send(request)
                #expect(facts.events == ["failed"])
                let found = try #require(facts.failure)
                #expect(found.phase == .resolving)
                #expect(found.kind == kind)
                #expect(found.evidence == .neverSent)
                #expect(found.isNameUnknown == isUnknown)
                #expect(found.message == failure.message(about: "origin.test"))
                #expect(found.bytesSent == 0)
                #expect(found.remoteAddress == nil)
            }
        }
    }

    @Test func aSilentResolverUsesUpTheTimeToConnect() async throws {
        defer { gate.fire() }
        let lookup = ScriptedLookup(Self.here, gate: gate)
        let rig = try UpstreamRig(resolver: lookup.resolver())
        var request = rig.request("GET", port: 80, host: "origin.test")
        request.timeouts.connect = .milliseconds(50)
        let failure = try #require(await rig.send(request).failure)
        #expect(failure.phase == .resolving)
        #expect(failure.kind == .dnsTimeout)
        #expect(failure.evidence == .neverSent)
    }

    @Test(arguments: ["a..b", String(repeating: "a", count: 64)])
    func invalidNameIsNotResolved(host: String) async throws {
        let lookup = ScriptedLookup(Self.here)
        let rig = try UpstreamRig(resolver: lookup.resolver())
        let failure = try #require(await rig.send(rig.request("GET", port: 80, host: host)).failure)
        #expect(failure.isNameUnknown)
        #expect(lookup.asked.value == [])
    }

    // MARK: Addresses

    /// The names that are resolved for two requests to the host. Both are answered.
    private func names(resolvedFor host: String, _ outcome: NameOutcome) async throws -> [String] {
        let lookup = ScriptedLookup(outcome)
        let rig = try UpstreamRig(resolver: lookup.resolver())
        for method in ["GET", "POST"] {
            #expect(await rig.send(rig.request(method, port: origin.port, host: host)).status == 200)
        }
        return lookup.asked.value
    }

    @Test(arguments: ["localhost", "a.localhost", "localhost.", "127.0.0.1", "127.1", "0x7f000001"])
    func addressesAndLocalhostAreNotResolved(host: String) async throws {
        #expect(try await names(resolvedFor: host, .failed(.unknown)) == [])
    }

    @Test(arguments: [
        "origin.test", "origin.test.", "Origin.Test", "-a.test", "_a.test", "1.2.3.4.5", "256.256.256.256",
    ])
    func namesAreResolvedOnceAndReached(host: String) async throws {
        #expect(try await names(resolvedFor: host, Self.here) == [host.lowercased()])
    }

    @Test func allAddressesAreTried() async throws {
        let rig = try UpstreamRig(
            resolver: ScriptedLookup(.addresses("[::1],127.0.0.2,127.0.0.1")).resolver())
        #expect(await rig.send(rig.request("GET", port: origin.port, host: "origin.test")).status == 200)
    }

    @Test func refusedAddressIsNotAnOutage() async throws {
        let rig = try UpstreamRig(
            guard: AddressTests.PortGuard(port: origin.port), resolver: ScriptedLookup(Self.here).resolver())
        let facts = await rig.send(rig.request("GET", port: origin.port, host: "origin.test"))
        facts.failure.expect(kind: .destinationIPProhibited, shutsGate: false)
        #expect(origin.connections.isEmpty)
    }

    // MARK: Network changes

    @Test func namesAreResolvedAgainAfterANetworkChange() async throws {
        let lookup = ScriptedLookup(.addresses("127.0.0.2"), Self.here)
        let rig = try UpstreamRig(resolver: lookup.resolver())
        let request = rig.request("GET", port: origin.port, host: "origin.test")
        #expect(await rig.send(request).failure?.kind == .connectionRefused)
        rig.eventLoop.execute { rig.worker.networkChanged() }
        #expect(await rig.send(request).status == 200)
        #expect(lookup.asked.value.count == 2)
    }

    @Test func attemptWaitingForAnOlderNetworksLookupResolvesAgain() async throws {
        defer { gate.fire() }
        // The first lookup hangs until the test is over; what it would say is wrong.
        let lookup = ScriptedLookup(.failed(.unknown), Self.here, gate: gate, blocksOnce: true)
        let rig = try UpstreamRig(resolver: lookup.resolver(runningCountMax: 1))
        let records = (1...5).map { _ in
            rig.start(rig.request("GET", port: origin.port, host: "origin.test"))
        }
        try await lookup.asked.wait("a lookup") { !$0.isEmpty }
        rig.eventLoop.execute { rig.worker.networkChanged() }
        for record in records { #expect(await record.ended().status == 200) }
        #expect(lookup.asked.value.count == 2)
    }
    /// Refuses nothing, but lets the worker's thread stand still before each connect.
    private struct SlowGuard: AddressGuard {
        let reached = Signal()
        let gate = Signal()
        func refusal(of address: String, port: Int, allow: [String]) -> FailureKind? {
            reached.fire()
            gate.block()
            return nil
        }
        func refusal(ofLiteral host: String, port: Int, allow: [String]) -> FailureKind? { nil }
    }

    @Test func addressesFromALookupBeforeANetworkChangeAreNotUsed() async throws {
        let lookup = ScriptedLookup(.failed(.unknown), Self.here, gate: gate, blocksOnce: true)
        let resolver = lookup.resolver()
        let slow = SlowGuard()
        let rig = try UpstreamRig(guard: slow, resolver: resolver)
        // The thread that stands still uses up their time.
        var (named, other) = (rig.request("GET", port: origin.port, host: "origin.test"), rig.request("GET", port: origin.port))
        (named.timeouts.connect, other.timeouts.connect) = (.seconds(60), .seconds(60))
        let waiting = rig.start(named)
        try await lookup.asked.wait("a lookup") { !$0.isEmpty }
        // The thread stands still; the change of the network, then the response, come into its mailbox.
        let literal = rig.start(other)
        #expect(await slow.reached.happened())
        try await rig.eventLoop.submit { rig.worker.networkChanged() }.get()
        try await rig.eventLoop.submit {}.get()
        gate.fire()
        let deadline = Deadline(in: .seconds(20))
        while resolver.threadCount > 0, !deadline.hasPassed { await Task.yield() }
        slow.gate.fire()
        #expect(await waiting.ended().status == 200)
        #expect(await literal.ended().status == 200)
        #expect(lookup.asked.value.count == 2)
    }
}
