import LayoverCore
import LayoverEngine
import LayoverTestSupport
import NIOCore
import Synchronization
import Testing

@testable import LayoverUpstream

/// Aborting in every phase: one last event, with the evidence, and a connection that nobody uses again.
@Suite(.bothPaths)
struct CancelTests {
    private let rig: UpstreamRig

    init() throws { rig = try UpstreamRig() }

    @Test(arguments: [true, false])
    func cancelWhileConnectingIsNeverSent(onlyIfConnecting: Bool) async throws {
        let origin = try DeafOrigin()
        defer { origin.stop() }
        let record = rig.start(rig.request("POST", port: origin.port))
        if onlyIfConnecting { record.cancelIfConnecting() } else { record.cancel() }
        let facts = await record.ended()
        #expect(facts.events == ["failed"])
        facts.failure.expect(evidence: .neverSent, shutsGate: false)
    }

    @Test func cancelWhileAwaitingTheResponseIsMaybeApplied() async throws {
        let received = Signal()
        let origin = try MisbehavingOrigin.silent(received)
        let record = rig.start(rig.request("GET", port: origin.port))
        #expect(await received.happened())
        #expect(record.attempt?.progress == AttemptProgress(phase: .awaitingResponse))
        record.cancelIfConnecting()
        record.cancel()
        record.cancel()
        let facts = await record.ended()
        #expect(facts.events == ["failed"])
        facts.failure.expect(phase: .awaitingResponse, evidence: .maybeApplied)
        let terminalCount = try await rig.eventLoop.submit { record.facts.terminalCount }.get()
        #expect(terminalCount == 1)
    }

    @Test func openConnectionIsNotAbortedByCancelIfConnecting() async throws {
        let received = Signal()
        let asked = Signal()
        let origin = try MisbehavingOrigin { connection in
            guard connection.readRequest() != nil else { return }
            received.fire()
            asked.block()
            connection.answer()
        }
        let record = rig.start(rig.request("GET", port: origin.port))
        #expect(await received.happened())
        #expect(record.attempt?.hasBegunSending.load(ordering: .acquiring) == true)
        record.cancelIfConnecting()
        asked.fire()
        #expect(await record.ended().events == ["head", "body", "end"])
    }

    @Test func cancelDuringTheResponseBodyIsAnswered() async throws {
        let origin = try MisbehavingOrigin.writing("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
        for number in 1...2 {
            let record = rig.start(rig.request("GET", port: origin.port))
            _ = await record.waitFor { !$0.body.isEmpty }
            record.cancel()
            let facts = await record.ended()
            #expect(facts.events == ["head", "body", "failed"])
            #expect(facts.failure?.evidence == .answered)
            #expect(origin.connections.count == number)
        }
    }

    @Test func cancelWhileAwaitingTheBodyIsMaybeApplied() async throws {
        let headCame = Signal()
        let origin = try MisbehavingOrigin.silent(headCame) { $0.readHead() != nil }
        let body = rig.emptyBody(length: 5)
        let record = rig.start(
            rig.request("POST", port: origin.port, framing: .length(5), body: body))
        #expect(await headCame.happened())
        record.cancel()
        let facts = await record.ended()
        facts.failure.expect(phase: .sending, evidence: .maybeApplied)
        // A wake that comes too late finds nobody.
        _ = body.append(ByteBuffer(string: "abc"))
    }

    @Test func cancelAfterTheEndDoesNothing() async throws {
        let origin = try MisbehavingOrigin.answering()
        let record = rig.start(rig.request("GET", port: origin.port))
        _ = await record.ended()
        record.cancel()
        #expect(await rig.send(rig.request("GET", port: origin.port)).events == ["head", "body", "end"])
        #expect(record.facts.events == ["head", "body", "end"])
    }

    @Test func shutdownAbortsAttemptsAndRefusesNewOnes() async throws {
        let received = Signal()
        let origin = try MisbehavingOrigin.silent(received)
        let record = rig.start(rig.request("GET", port: origin.port))
        #expect(await received.happened())
        rig.eventLoop.execute { rig.worker.shutDown() }
        let late = rig.start(rig.request("GET", port: origin.port))
        #expect(await record.ended().events == ["failed"])
        let facts = await late.ended()
        #expect(facts.events == ["failed"])
        #expect(facts.failure?.evidence == .neverSent)
    }
}
