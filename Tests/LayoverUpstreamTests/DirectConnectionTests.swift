import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverOrigin
import LayoverTestSupport
import NIOCore
import Synchronization
import Testing

@testable import LayoverUpstream

/// Features of the direct path only: the choice of a kept connection for each request, and exact evidence.
@Suite(.directPath)
struct DirectConnectionTests {
    private let rig: UpstreamRig

    init() throws { rig = try UpstreamRig() }

    /// Answers with the number of the connection.
    private static func numberingOrigin() throws -> MisbehavingOrigin {
        try MisbehavingOrigin { connection in
            while connection.readRequest() != nil { connection.answer("\(connection.number)") }
        }
    }

    @Test func fieldsThatAreWrittenAnewStandInTheirPlaces() async throws {
        let origin = try MisbehavingOrigin.answering(once: true)
        var request = rig.request("PUT", port: origin.port, framing: .length(2), body: rig.body("ab"))
        request.fields = ["A": "1", "B": "2", "C": "3"]
        request.places = FieldPlaces(host: 1, framing: 2)
        #expect(await rig.send(request).status == 200)
        #expect(
            origin.received.joined().hasSuffix(
                " HTTP/1.1\r\nA: 1\r\nHost: 127.0.0.1:\(origin.port)\r\nB: 2\r\nContent-Length: 2\r\nC: 3\r\n\r\nab"))
    }

    /// The last piece of a body may wait for an origin that does not read.
    @Test func requestIsSentOnceTheKernelHasAllOfIt() async throws {
        let byteCount = 16 << 20
        let mayRead = Signal()
        let origin = try MisbehavingOrigin { connection in
            guard connection.readHead() != nil else { return }
            connection.answer("ok")
            mayRead.block()
            _ = connection.readBody(isChunked: false, byteCount: byteCount)
        }
        let rig = try Path.$pieceByteCountMax.withValue(byteCount) { try UpstreamRig() }
        // A body in a file is read in smaller pieces.
        var limits = CapturedBody.Limits()
        limits.inMemoryMax = byteCount
        let body = rig.body(String(repeating: "a", count: byteCount), mayBeSentTwice: true, limits: limits)
        let record = rig.start(rig.request("PUT", port: origin.port, framing: .length(byteCount), body: body))
        _ = await record.waitFor { $0.events.contains("endWithheld") }
        // The response may come before the kernel has the body.
        let sent = AttemptProgress(phase: .sending, bytesSent: Int64(byteCount))
        let deadline = ContinuousClock.now + .seconds(20)
        while record.attempt?.progress != sent, ContinuousClock.now < deadline { await Task.yield() }
        #expect(record.attempt?.progress == sent)
        mayRead.fire()
        #expect(await record.ended().events.last == "end")
        #expect(record.attempt?.progress.phase == .awaitingResponse)
    }

    @Test func unrepeatableRequestUsesAConnectionThatWasJustUsed() async throws {
        let origin = try Self.numberingOrigin()
        #expect(await rig.send(rig.request("GET", port: origin.port)).bodyText == "1")
        for _ in 1...3 {
            let post = rig.request("POST", port: origin.port, framing: .length(2), body: rig.body("ab"))
            #expect(await rig.send(post).bodyText == "1")
        }
    }

    @Test func unrepeatableRequestDoesNotUseAConnectionThatWasIdleForLong() async throws {
        let origin = try Self.numberingOrigin()
        let rig = try Path.$idleForUnrepeatableMax.withValue(.nanoseconds(1)) { try UpstreamRig() }
        #expect(await rig.send(rig.request("GET", port: origin.port)).bodyText == "1")
        #expect(await rig.send(rig.request("POST", port: origin.port)).bodyText == "2")
        #expect(await rig.send(rig.request("GET", port: origin.port)).bodyText != "3", "age does not matter to it")
    }

    /// An origin that refuses a body often closes a moment later, without having said so.
    @Test func unrepeatableRequestDoesNotFollowARefusedBody() async throws {
        let origin = try MisbehavingOrigin { connection in
            while let (head, _) = connection.readRequest() {
                connection.answer("\(connection.number)", status: head.contains("/refused") ? "413 Content Too Large" : "200 OK")
            }
        }
        let refused = rig.request("PUT", port: origin.port, target: "/refused", framing: .length(2), body: rig.body("ab"))
        #expect(await rig.send(refused).bodyText == "1")
        #expect(await rig.send(rig.request("POST", port: origin.port)).bodyText == "2")
        #expect(await rig.send(rig.request("POST", port: origin.port)).bodyText == "2")
        #expect(await rig.send(rig.request("GET", port: origin.port)).bodyText != "3", "what may be repeated can use either")
    }

    /// Writes to clients are flushed at the end of a batch, so without one a response would wait.
    @Test func batchEndsBehindAResponseThatClosesItsConnection() async throws {
        let origin = try MisbehavingOrigin { connection in
            for fields in ["", "Connection: close\r\n"] where connection.readRequest() != nil { connection.answer("1", fields: fields) }
            _ = connection.readHead()
        }
        // The second one dials nothing, and its response is one read.
        #expect(await rig.send(rig.request("GET", port: origin.port)).bodyText == "1")
        let count = try await rig.eventLoop.submit { rig.batchEndCount.value.current }.get()
        #expect(await rig.send(rig.request("GET", port: origin.port)).bodyText == "1")
        #expect(try await rig.eventLoop.submit { rig.batchEndCount.value.current }.get() > count)
    }

    /// Bytes in the kernel, or the end of the connection, are found before an unrepeatable request is sent.
    @Test func unrepeatableRequestDoesNotUseAConnectionKnownToBeDead() async throws {
        let closed = Signal()
        let origin = try MisbehavingOrigin { connection in
            guard connection.readRequest() != nil else { return }
            connection.answer("\(connection.number)")
            if connection.number == 1 {
                connection.reset()
                closed.fire()
            } else {
                connection.readToEnd()
            }
        }
        #expect(await rig.send(rig.request("GET", port: origin.port)).bodyText == "1")
        #expect(await closed.happened())
        let facts = await rig.send(rig.request("POST", port: origin.port, framing: .length(2), body: rig.body("ab")))
        #expect(facts.bodyText == "2")
        #expect(origin.count(of: "POST /x") == 1)
    }

    @Test(arguments: ["NTLM TlRMTVNTUAAB", "negotiate YII="])
    func connectionThatWasAuthenticatedStaysWithItsClient(credentials: String) async throws {
        let origin = try Self.numberingOrigin()
        let login = rig.request("GET", port: origin.port, fields: ["Authorization: \(credentials)"])
        let plain = rig.request("GET", port: origin.port)
        #expect(await rig.start(login, client: 7).ended().bodyText == "1")
        #expect(await rig.start(plain, client: 8).ended().bodyText == "2", "not another client's")
        #expect(await rig.start(plain).ended().bodyText == "2", "an attempt without a client does not get it either")
        #expect(await rig.start(plain, client: 7).ended().bodyText == "1", "without credentials too: the connection has them")
        #expect(await rig.start(login).ended().bodyText == "2")
        #expect(await rig.start(plain).ended().bodyText == "3", "one that is authenticated for nobody is not kept")
    }

    @Test func basicCredentialsAreOfTheirRequestOnly() async throws {
        let origin = try Self.numberingOrigin()
        let login = rig.request("GET", port: origin.port, fields: ["Authorization: Basic bnRsbQ=="])
        #expect(await rig.start(login, client: 7).ended().bodyText == "1")
        #expect(await rig.start(rig.request("GET", port: origin.port), client: 8).ended().bodyText == "1")
    }

    // MARK: While the start is being recorded

    @Test func requestIsSentOnceItsPermitIsThere() async throws {
        let origin = try Self.numberingOrigin()
        let asked = Watched<[@Sendable (Bool) -> Void]>([])
        let record = rig.start(
            rig.request("POST", port: origin.port, framing: .length(2), body: rig.body("ab")),
            permit: { response in asked.update { $0.append(response) } })
        try await asked.wait("the question") { $0.count == 1 }
        // The loop is not blocked meanwhile.
        #expect(await rig.send(rig.request("GET", port: origin.port)).status == 200)
        #expect(origin.count(of: "POST") == 0)
        asked.value[0](true)
        #expect(await record.ended().status == 200)
        #expect(origin.count(of: "POST") == 1)
    }

    /// The kept connection ends, or says something, while the permit is waited for: the request goes on another one, for which the
    /// permit is asked again.
    @Test(arguments: ["close", "speak"]) func keptConnectionThatIsSpoiltBeforeThePermitIsNotUsed(how: String) async throws {
        let spoil = Signal()
        let spoilt = Signal()
        let origin = try MisbehavingOrigin { connection in
            while connection.number > 1, connection.readRequest() != nil { connection.answer("\(connection.number)") }
            guard connection.readRequest() != nil else { return }
            connection.answer("1")
            spoil.block()
            if how == "speak" { connection.write("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison") } else { connection.finishWriting() }
            spoilt.fire()
            if how == "speak" { connection.readToEnd() }
        }
        #expect(await rig.send(rig.request("GET", port: origin.port)).bodyText == "1")
        let asked = Watched<[@Sendable (Bool) -> Void]>([])
        let record = rig.start(
            rig.request("POST", port: origin.port), permit: { response in asked.update { $0.append(response) } })
        try await asked.wait("the first question") { $0.count == 1 }
        spoil.fire()
        #expect(await spoilt.happened())
        // The loop has the received bytes before the next connection is open.
        _ = await rig.send(rig.request("GET", port: origin.port), needsFreshConnection: true)
        asked.value[0](true)
        try await asked.wait("the second question") { $0.count == 2 }
        asked.value[1](true)
        let facts = await record.ended()
        #expect(facts.status == 200)
        #expect(facts.bodyText != "poison")
        #expect(origin.count(of: "POST /x") == 1)
    }

    @Test func cancelWhileThePermitIsAwaitedIsNeverSent() async throws {
        let origin = try Self.numberingOrigin()
        let asked = Watched<[@Sendable (Bool) -> Void]>([])
        let record = rig.start(
            rig.request("POST", port: origin.port), permit: { response in asked.update { $0.append(response) } })
        try await asked.wait("the question") { $0.count == 1 }
        record.cancel()
        let facts = await record.ended()
        #expect(facts.failure?.evidence == .neverSent)
        asked.value[0](true)
        #expect(await rig.send(rig.request("GET", port: origin.port)).status == 200)
        #expect(origin.count(of: "POST") == 0)
    }

    /// The origin resets the kept connection behind our back: the kernel takes nothing, so the request goes on another connection, and
    /// its body, which must not be sent twice, is whole there.
    @Test(arguments: [2, 500_000]) func nothingIsLostWhenTheKernelRefusesTheFirstByte(byteCount: Int) async throws {
        let (reset, isReset) = (Signal(), Signal())
        let origin = try MisbehavingOrigin { connection in
            guard let (_, body) = connection.readRequest() else { return }
            connection.answer("\(connection.number) \(body.count)")
            guard connection.number == 1 else { return }
            reset.block()
            connection.reset()
            isReset.fire()
        }
        #expect(await rig.send(rig.request("GET", port: origin.port)).bodyText == "1 0")
        let askedCount = Atomic(0)
        let text = String(repeating: "b", count: byteCount)
        let record = rig.start(
            rig.request("POST", port: origin.port, framing: .length(byteCount), body: rig.body(text)),
            permit: { answer in
                // On the loop, which sees nothing of the reset before it sends.
                if askedCount.add(1, ordering: .relaxed).newValue == 1 {
                    reset.fire()
                    isReset.block()
                }
                answer(true)
            })
        let facts = await record.ended()
        #expect(facts.bodyText == "2 \(byteCount)")
        #expect(askedCount.load(ordering: .relaxed) == 2)
        #expect(origin.count(of: "POST /x") == 1)
    }

    // MARK: Evidence

    /// The origin resets each connection as soon as it is open: as long as the kernel takes nothing, nothing was sent.
    @Test func evidenceAgreesWithWhatTheOriginReceived() async throws {
        let origin = try MisbehavingOrigin { $0.reset() }
        for _ in 1...200 {
            let facts = await rig.send(rig.request("POST", port: origin.port, framing: .length(2), body: rig.body("ab")))
            let failure = try #require(facts.failure)
            #expect(failure.kind == .connectionTerminated)
            #expect((failure.evidence == .neverSent) == (failure.bytesSent == 0))
        }
    }
}
