import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverUpstream

/// Ends of attempts that wait for a name, and what is left of their lookups.
@Suite(.bothPaths)
struct ResolvingEndsTests {
    private let gate = Signal()
    private static let here = NameOutcome.addresses("127.0.0.1")

    /// The lookup hangs for 45 s, so an end that waited for it would not come in time.
    @Test(arguments: [true, false])
    func aHangingLookupDoesNotDelayACancelledAttempt(onlyIfConnecting: Bool) async throws {
        defer { gate.fire() }
        let lookup = ScriptedLookup(Self.here, gate: gate)
        let rig = try UpstreamRig(resolver: lookup.resolver())
        let record = rig.start(rig.request("POST", port: 80, host: "origin.test"))
        try await lookup.asked.wait("a lookup") { !$0.isEmpty }
        let began = ContinuousClock.now
        if onlyIfConnecting { record.cancelIfConnecting() } else { record.cancel() }
        let facts = await record.ended()
        #expect(began.duration(to: .now) < .seconds(30))
        #expect(facts.events == ["failed"])
        facts.failure.expect(phase: .resolving, evidence: .neverSent, shutsGate: false)
        record.cancel()
        try await rig.stop()
        #expect(record.facts.terminalCount == 1)
    }

    @Test func shuttingDownDoesNotWaitForALookup() async throws {
        defer { gate.fire() }
        let lookup = ScriptedLookup(Self.here, gate: gate)
        let rig = try UpstreamRig(resolver: lookup.resolver())
        let record = rig.start(rig.request("GET", port: 80, host: "origin.test"))
        try await lookup.asked.wait("a lookup") { !$0.isEmpty }
        let began = ContinuousClock.now
        try await rig.stop()
        #expect(began.duration(to: .now) < .seconds(30))
        #expect(record.facts.events == ["failed"])
    }

    @Test func oneOfManyThatWaitIsCancelledAlone() async throws {
        let origin = try MisbehavingOrigin.answering()
        let lookup = ScriptedLookup(Self.here, gate: gate)
        let rig = try UpstreamRig(resolver: lookup.resolver())
        let records = (1...9).map { _ in
            rig.start(rig.request("GET", port: origin.port, host: "origin.test"))
        }
        for record in records where record === records[0] || record === records[8] { record.cancel() }
        #expect(await records[0].ended().events == ["failed"])
        #expect(await records[8].ended().events == ["failed"])
        gate.fire()
        for record in records[1...7] { #expect(await record.ended().status == 200) }
        #expect(lookup.asked.value.count == 1)
    }

    /// A thousand names at once, with a silent resolver: the threads are bounded, and in the end gone.
    @Test func threadsAreBoundedAndEnd() async throws {
        let lookup = ScriptedLookup(.failed(.noResolver), gate: gate)
        let resolver = lookup.resolver()
        let rig = try UpstreamRig(resolver: resolver)
        let records = (1...1000).map { number in
            var request = rig.request("GET", port: 80, host: "name\(number).test")
            // Their names are what they wait for, and not the end of the time to connect.
            request.timeouts.connect = .seconds(60)
            return rig.start(request)
        }
        try await lookup.asked.wait("eight lookups") { $0.count == 8 }
        #expect(resolver.threadCount == 8)
        // Cancelled ones make room, until there are no threads any more.
        for record in records[..<100] { record.cancel() }
        for record in records[..<100] { #expect(await record.ended().events == ["failed"]) }
        try await lookup.asked.wait("more lookups") { $0.count >= 16 }
        #expect(resolver.threadCount <= 32)
        gate.fire()
        for record in records[100...] {
            #expect(await record.ended().failure?.kind == .dnsError)
        }
        try await rig.stop()
        let deadline = Deadline(in: .seconds(20))
        while resolver.threadCount > 0, !deadline.hasPassed { await Task.yield() }
        #expect(resolver.threadCount == 0)
    }
}
