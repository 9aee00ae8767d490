import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverUpstream

/// Origins that fail in every phase, and what the failure says.
@Suite(.bothPaths)
struct BrokenOriginTests {
    private func failure(
        method: String = "GET", adjust: (inout UpstreamRequest) -> Void = { _ in },
        script: @escaping MisbehavingOrigin.Script
    ) async throws -> (AttemptRecord.Facts, Failure?) {
        let origin = try MisbehavingOrigin(script: script)
        let rig = try UpstreamRig()
        var request = rig.request(method, port: origin.port)
        adjust(&request)
        let facts = await rig.send(request)
        try await rig.stop()
        #expect(facts.terminalCount == 1)
        return (facts, facts.failure)
    }

    @Test func refusedConnectionWasNeverSent() async throws {
        let rig = try UpstreamRig()
        for purpose in [UpstreamRequest.Purpose.transfer, .dial] {
            var request = rig.request("POST", port: try ListeningSocket.refusingPort())
            request.purpose = purpose
            let facts = await rig.send(request)
            facts.failure.expect(kind: .connectionRefused, phase: .connecting, evidence: .neverSent)
            #expect(facts.failure?.curlCode == 7)
            #expect(facts.failure?.osError == 111)
            #expect(facts.failure?.shutsGate == true)
        }
    }

    @Test func unknownNameWasNeverSent() async throws {
        let rig = try UpstreamRig()
        let facts = await rig.send(rig.request("POST", port: 80, host: "no-such-name.invalid"))
        #expect(facts.failure?.phase == .resolving)
        // Where no resolver answers it takes as long as connecting may.
        #expect([.dnsError, .dnsTimeout].contains(facts.failure?.kind))
        #expect(facts.failure?.evidence == .neverSent)
    }

    @Test func connectTimeoutIsNeverSent() async throws {
        let origin = try DeafOrigin()
        defer { origin.stop() }
        let rig = try UpstreamRig()
        var request = rig.request("POST", port: origin.port)
        request.timeouts.connect = .milliseconds(150)
        let facts = await rig.send(request)
        facts.failure.expect(kind: .connectionTimeout, phase: .connecting, evidence: .neverSent)
    }

    @Test(arguments: ["close", "reset"]) func closeAfterReadingIsMaybeApplied(how: String) async throws {
        let (facts, failure) = try await failure(method: "POST") { connection in
            _ = connection.readRequest()
            if how == "reset" { connection.reset() }
        }
        #expect(facts.events == ["failed"])
        failure.expect(kind: .connectionTerminated, phase: .awaitingResponse, evidence: .maybeApplied)
        #expect(failure?.bytesSent ?? 0 > 30)
        #expect(failure?.reusedConnection == false)
        #expect(failure?.remoteAddress == "127.0.0.1")
        #expect(failure?.shutsGate == false)
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Le", ["failed"]), ("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", ["interim", "failed"]),
    ])
    func closeBeforeTheWholeHeadIsMaybeApplied(answer: String, events: [String]) async throws {
        let (facts, failure) = try await failure { connection in
            _ = connection.readRequest()
            connection.write(answer)
        }
        #expect(facts.events == events)
        #expect(failure?.evidence == .maybeApplied)
        #expect(failure?.kind == .httpResponseIncomplete, "worth another attempt, where that does no harm")
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Trailer: ",
    ])
    func bodyThatIsCutOffIsIncomplete(answer: String) async throws {
        let (facts, failure) = try await failure { connection in
            _ = connection.readRequest()
            connection.write(answer)
        }
        #expect(facts.events == ["head", "body", "failed"])
        #expect(facts.bodyText == "abc")
        failure.expect(kind: .httpResponseIncomplete, phase: .receiving, evidence: .answered)
    }

    @Test func bodyThatIsResetIsIncomplete() async throws {
        let received = Signal()
        let origin = try MisbehavingOrigin { connection in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
            received.block()
            connection.reset()
        }
        let rig = try UpstreamRig()
        let record = rig.start(rig.request("GET", port: origin.port))
        _ = await record.waitFor { !$0.body.isEmpty }
        received.fire()
        let facts = await record.ended()
        facts.failure.expect(kind: .httpResponseIncomplete, evidence: .answered)
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-", "HTTP/1.1 100 Continue\r\n\r\n"])
    func silenceBeforeTheHeadEndsAfterFirstByte(answer: String) async throws {
        let (_, failure) = try await failure(adjust: { $0.timeouts.firstByte = .milliseconds(200) }) {
            connection in
            _ = connection.readRequest()
            if !answer.isEmpty { connection.write(answer) }
            connection.readToEnd()
        }
        failure.expect(kind: .httpResponseTimeout, phase: .awaitingResponse, evidence: .maybeApplied)
    }

    @Test func silenceInTheBodyEndsAfterIdle() async throws {
        let (facts, failure) = try await failure(adjust: { $0.timeouts.idle = .milliseconds(200) }) {
            connection in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
            connection.readToEnd()
        }
        #expect(facts.events == ["head", "body", "failed"])
        failure.expect(kind: .connectionReadTimeout, phase: .receiving, evidence: .answered)
    }

    @Test(arguments: ["a b", "a\nb", "", "a\0b"])
    func targetWithForbiddenBytesIsNotSent(target: String) async throws {
        let (_, failure) = try await failure(adjust: { $0.target = target }) { _ in }
        failure.expect(kind: .httpRequestError, evidence: .neverSent, shutsGate: false)
    }

    @Test(arguments: ["127.0.0.1/", "a@127.0.0.1", "%31", "a b", "[::1]", "", "a?b", "::1%lo"])
    func invalidHostIsNotConnectedTo(host: String) async throws {
        let (_, failure) = try await failure(adjust: {
            $0.origin = Origin(scheme: .http, host: host, port: 1)
        }) { _ in }
        failure.expect(kind: .httpRequestError, evidence: .neverSent)
    }
}
