import LayoverCore
import LayoverHTTP
import LayoverTestSupport
import NIOCore
import NIOEmbedded
import Testing

@testable import LayoverEngine

/// What the proxy gets from an attempt that meets a rehearsal, event by event.
struct RehearsedUpstreamTests {
    /// A worker whose real half is a script, on a loop and a clock that the test moves.
    private final class Stage {
        let loop = EmbeddedEventLoop()
        let clock = ManualClock()
        let upstream = ScriptedUpstream()
        let board = RehearsalBoard()
        let worker: any UpstreamWorker
        private var rehearsals = Rehearsals()

        /// - Parameter fault: That of a rehearsal of `a.example`. Default (nil): none.
        init(_ fault: RehearsalFault? = nil, bytes: Int? = nil, status: Int? = nil, for length: Duration = .seconds(60)) throws {
            worker = try RehearsedUpstream(upstream, board: board, clock: clock).makeWorker(for: loop, batchEnded: {})
            if let fault { try rehearse(fault, bytes: bytes, status: status, for: length) }
        }

        @discardableResult
        func rehearse(
            _ fault: RehearsalFault, bytes: Int? = nil, status: Int? = nil, for length: Duration = .seconds(60)
        ) throws -> Int {
            let order = try RehearsalOrder(
                host: #require(RehearsedHost("a.example")), fault: fault, byteCount: bytes, status: status, length: length)
            let rehearsal = try rehearsals.begin(order, now: clock.now())
            board.show(rehearsals.current)
            return rehearsal.number
        }

        func stop(_ number: Int) {
            _ = rehearsals.stop(number, now: clock.now())
            board.show(rehearsals.current)
        }

        func start(
            _ method: String = "GET", host: String = "a.example", purpose: RequestPurpose = .transfer, cancelsAtHead: Bool = false
        ) -> (attempt: UpstreamAttempt, seen: Recorder) {
            let seen = Recorder()
            let attempt = UpstreamAttempt(
                request: UpstreamRequest(
                    purpose: purpose, origin: Origin(scheme: .http, host: host), method: method, target: "/", host: host, fields: [:],
                    mayBeSentTwice: false),
                number: 1, wantsConnectionFacts: true, receiver: seen)
            if cancelsAtHead { seen.whenAnswered = { [worker] in worker.cancel(attempt) } }
            worker.start(attempt)
            return (attempt, seen)
        }

        /// Lets time pass as the loop and the clock see it.
        func pass(_ duration: Duration) {
            clock.advance(by: duration)
            loop.advanceTime(by: TimeAmount(duration))
        }

        var realAttempts: [ScriptedAttempt] { upstream.record.value.unclaimed }
    }

    /// The events of one attempt, as words.
    private final class Recorder: UpstreamReceiver {
        var words: [String] = []
        var failure: Failure?
        var text = ""
        var whenAnswered: (() -> Void)?

        func receive(_ event: UpstreamEvent, of attempt: UpstreamAttempt) {
            switch event {
            case .bodyWanted: words.append("bodyWanted")
            case .bodyUnwanted: words.append("bodyUnwanted")
            case .endWithheld: words.append("endWithheld")
            case .complete: words.append("complete")
            case .interim(let head): words.append("interim \(head.status)")
            case .head(let head, _):
                words.append("head \(head.status)")
                whenAnswered?()
            case .body(let bytes):
                words.append("body \(bytes.readableBytes)")
                text += String(buffer: bytes)
                attempt.bytesOutstanding.subtract(bytes.readableBytes, ordering: .relaxed)
            case .end: words.append("end")
            case .failed(let failure):
                words.append("failed \(failure.kind.rawValue) \(failure.evidence)")
                self.failure = failure
            case .dialled: words.append("dialled")
            }
        }
    }

    // MARK: Nothing is sent

    @Test func refusedConnectionFailsOnceTheCallIsOver() throws {
        let stage = try Stage(.refuse)
        let (_, seen) = stage.start("POST")
        #expect(seen.words.isEmpty, "nobody expects events within a call")
        stage.loop.run()
        #expect(seen.words == ["failed connection_refused neverSent"])
        #expect(stage.realAttempts.isEmpty)
    }

    @Test func otherHostsAreNotAffected() throws {
        let stage = try Stage()
        for fault in RehearsalFault.allCases { try stage.rehearse(fault) }
        let (_, seen) = stage.start(host: "b.example")
        try #require(stage.realAttempts.first).respond(200, ["Content-Length: 2"], body: "ok")
        stage.loop.run()
        #expect(seen.words == ["head 200", "body 2", "end"])
        #expect(stage.upstream.complaints.isEmpty)
    }

    @Test(arguments: [("GET", 503, true), ("HEAD", 503, false), ("GET", 204, false), ("GET", 304, false), ("POST", 205, false)])
    func responseIsMadeWithoutTheHost(method: String, status: Int, hasBody: Bool) throws {
        let stage = try Stage(.status, status: status)
        let (attempt, seen) = stage.start(method)
        stage.loop.run()
        #expect(seen.words.first == "head \(status)" && seen.words.last == "end")
        #expect(seen.words.count == (hasBody ? 3 : 2) && seen.text.contains("rehearsal 1") == hasBody)
        #expect(attempt.connectionFacts == .made && attempt.bytesOutstanding.load(ordering: .relaxed) == 0)
        #expect(stage.realAttempts.isEmpty)
    }

    /// The prober does so: it wants the head and nothing else.
    @Test func madeResponseIsCancelledInItsMiddle() throws {
        let stage = try Stage(.portal)
        let (_, seen) = stage.start(cancelsAtHead: true)
        stage.loop.run()
        #expect(seen.words == ["head 302", "failed proxy_internal_error neverSent"])
    }

    @Test func hungAttemptFailsWhenItsTimeIsOver() throws {
        let stage = try Stage(.hang)
        let (attempt, seen) = stage.start("POST")
        stage.pass(.milliseconds(9900))
        #expect(seen.words.isEmpty && attempt.progress.phase == .connecting)
        stage.pass(.milliseconds(200))
        #expect(seen.words == ["failed connection_timeout neverSent"])
        #expect(stage.realAttempts.isEmpty)
    }

    @Test(arguments: [true, false])
    func hungAttemptIsMadeOnceTheRehearsalIsOver(isStopped: Bool) throws {
        let stage = try Stage()
        let number = try stage.rehearse(.hang, for: .seconds(2))
        let (_, seen) = stage.start("POST")
        stage.pass(.seconds(1))
        #expect(stage.realAttempts.isEmpty)
        if isStopped { stage.stop(number) } else { stage.pass(.seconds(1)) }
        stage.pass(.milliseconds(100))
        try #require(stage.realAttempts.first).respond(201, ["Content-Length: 0"])
        stage.loop.run()
        #expect(seen.words == ["head 201", "end"])
        #expect(stage.upstream.complaints.isEmpty)
    }

    @Test(arguments: [true, false])
    func hungAttemptIsCancelled(onlyIfConnecting: Bool) throws {
        let stage = try Stage(.hang)
        let (attempt, seen) = stage.start()
        if onlyIfConnecting { stage.worker.cancelIfConnecting(attempt) } else { stage.worker.cancel(attempt) }
        stage.loop.run()
        #expect(seen.words == ["failed proxy_internal_error neverSent"])
        stage.pass(.seconds(20))
        #expect(seen.words.count == 1)
    }

    @Test func playedAttemptsEndWithTheirWorker() throws {
        let stage = try Stage(.hang)
        let (_, seen) = stage.start()
        stage.worker.shutDown()
        stage.loop.run()
        #expect(seen.words == ["failed proxy_internal_error neverSent"])
        #expect(stage.upstream.record.value.shutDownCount == 1)
    }

    @Test(arguments: [RehearsalFault.cut, .status, .slow])
    func tunnelsAreLeftAlone(fault: RehearsalFault) throws {
        let stage = try Stage(fault)
        _ = stage.start("CONNECT", purpose: .dial)
        #expect(stage.realAttempts.count == 1)
    }

    // MARK: Responses that are cut off

    /// The length is no part of the head that is passed on: whoever writes the response writes it anew.
    private func respond(_ real: ScriptedAttempt, _ body: String = "0123456789") {
        real.sendHead(200, ["Content-Length: \(body.utf8.count)"])
        real.sendBody(String(body.prefix(4)))
        real.sendBody(String(body.dropFirst(4)))
        real.finish()
    }

    private static let headCount = "HTTP/1.1 200 Scripted\r\n\r\n".utf8.count

    @Test(arguments: [
        (0, ["failed connection_terminated maybeApplied"]), (headCount - 1, ["failed connection_terminated maybeApplied"]),
        (headCount, ["head 200", "failed http_response_incomplete answered"]),
        (headCount + 1, ["head 200", "body 1", "failed http_response_incomplete answered"]),
        (headCount + 4, ["head 200", "body 4", "failed http_response_incomplete answered"]),
        (headCount + 9, ["head 200", "body 4", "body 5", "failed http_response_incomplete answered"]),
        (headCount + 10, ["head 200", "body 4", "body 6", "end"]), (1000, ["head 200", "body 4", "body 6", "end"]),
    ])
    func responseIsCutOffAfterItsBytes(count: Int, words: [String]) throws {
        let stage = try Stage(.cut, bytes: count)
        let (attempt, seen) = stage.start("POST")
        respond(try #require(stage.realAttempts.first))
        stage.loop.run()
        #expect(seen.words == words)
        #expect(seen.failure?.message.hasPrefix("Rehearsal 1: ") != false)
        #expect(attempt.receiver === seen, "nothing is left in between")
        #expect(stage.upstream.complaints.isEmpty)
    }

    @Test func failureOfTheHostComesThrough() throws {
        let stage = try Stage(.cut)
        let (_, seen) = stage.start()
        try #require(stage.realAttempts.first).fail(.dnsError, phase: .resolving)
        stage.loop.run()
        #expect(seen.words == ["failed dns_error neverSent"])
    }

    @Test func responseIsWholeOnceTheRehearsalIsOver() throws {
        let stage = try Stage(.cut, bytes: Self.headCount, for: .seconds(1))
        let (_, seen) = stage.start()
        let real = try #require(stage.realAttempts.first)
        real.sendHead(200, ["Content-Length: 4"])
        stage.loop.run()
        stage.pass(.seconds(1))
        real.sendBody("ever")
        real.finish()
        stage.loop.run()
        #expect(seen.words == ["head 200", "body 4", "end"])
    }

    // MARK: Responses that trickle

    @Test func responseTrickles() throws {
        let stage = try Stage(.slow, bytes: 10)
        let (attempt, seen) = stage.start()
        respond(try #require(stage.realAttempts.first))
        stage.loop.run()
        #expect(seen.words.isEmpty)
        stage.pass(.milliseconds(2500))
        #expect(seen.words == ["head 200"])
        for _ in 0..<5 { stage.pass(.milliseconds(100)) }
        #expect(seen.text == "01234" && seen.words.last != "end")
        #expect(attempt.bytesOutstanding.load(ordering: .relaxed) == 5, "what waits counts as not taken")
        for _ in 0..<5 { stage.pass(.milliseconds(100)) }
        #expect(seen.text == "0123456789" && seen.words.last == "end")
        #expect(attempt.receiver === seen && attempt.connectionFacts?.isMade != true)
        #expect(stage.upstream.complaints.isEmpty)
    }

    @Test func restComesAtOnceWhenItIsStopped() throws {
        let stage = try Stage()
        let number = try stage.rehearse(.slow, bytes: 1)
        let (_, seen) = stage.start()
        respond(try #require(stage.realAttempts.first))
        stage.loop.run()
        stage.stop(number)
        stage.pass(.milliseconds(100))
        #expect(seen.words == ["head 200", "body 4", "body 6", "end"])
    }

    @Test(arguments: [true, false])
    func tricklingResponseIsCancelled(realIsOver: Bool) throws {
        let stage = try Stage(.slow, bytes: Self.headCount)
        let (attempt, seen) = stage.start()
        let real = try #require(stage.realAttempts.first)
        if realIsOver { respond(real) } else { real.sendHead(200, ["Content-Length: 4"]) }
        stage.loop.run()
        stage.pass(.seconds(1))
        #expect(seen.words == ["head 200"])
        stage.worker.cancel(attempt)
        stage.loop.run()
        #expect(seen.words.count == 2 && seen.words.last?.hasPrefix("failed") == true)
        stage.pass(.seconds(60))
        #expect(seen.words.count == 2 && attempt.receiver === seen)
        #expect(stage.upstream.complaints.isEmpty)
    }

    @Test func resumingReachesTheRealWorkerWhileItIsAtIt() throws {
        let stage = try Stage(.slow, bytes: 1)
        let (attempt, _) = stage.start()
        let real = try #require(stage.realAttempts.first)
        real.sendHead(200, ["Content-Length: 4"])
        stage.loop.run()
        attempt.isReceivingPaused.store(true, ordering: .relaxed)
        stage.worker.resumeReceiving(attempt)
        #expect(real.seen.value.resumeCount == 1)
    }
}
