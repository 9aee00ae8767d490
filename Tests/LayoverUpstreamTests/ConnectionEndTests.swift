import LayoverTestSupport
import Testing

@testable import LayoverUpstream

/// When connections to origins are closed: none may lie about for longer than it is of use.
@Suite(.bothPaths)
struct ConnectionEndTests {
    /// Answers until the client ends, and counts the connections whose end was seen.
    private static func countingOrigin(_ ended: Watched<Int>) throws -> MisbehavingOrigin {
        try MisbehavingOrigin { connection in
            while connection.readRequest() != nil { connection.answer() }
            ended.update { $0 += 1 }
        }
    }

    /// libcurl cannot be kept from sending again, so it gets no kept connection for such a request.
    @Test func connectionOfAnUnrepeatableRequestIsClosedAfterItsResponse() async throws {
        guard Path.current == .libcurl else { return }
        let ended = Watched(0)
        let origin = try Self.countingOrigin(ended)
        let rig = try UpstreamRig()
        for _ in 1...20 {
            let request = rig.request("POST", port: origin.port, framing: .length(2), body: rig.body("ab"))
            #expect(await rig.send(request).bodyText == "ok")
        }
        // The reads of the origin give up after 30 s, which would look like an end.
        try await ended.wait("the end of 20 connections", within: .seconds(25)) { $0 == 20 }
        #expect(origin.connections.count == 20)
    }

    /// A repeatable request that follows finds the connection of the one before, not that of the POST.
    @Test func connectionsOfRepeatableRequestsAreKeptBesideIt() async throws {
        guard Path.current == .libcurl else { return }
        let origin = try Self.countingOrigin(Watched(0))
        let rig = try UpstreamRig()
        for _ in 1...3 {
            #expect(await rig.send(rig.request("GET", port: origin.port)).bodyText == "ok")
            #expect(await rig.send(rig.request("POST", port: origin.port)).bodyText == "ok")
        }
        #expect(origin.connections.count == 4)
        #expect(origin.connections.first?.receivedText.contains("POST") == false)
    }

    @Test func idleConnectionsAreClosedAtTheirAgeWithoutFurtherTraffic() async throws {
        let (ended, asked, allAsked) = (Watched(0), Watched(0), Signal())
        let origin = try MisbehavingOrigin { connection in
            guard connection.readRequest() != nil else { return }
            // All at once, so that each needs a connection of its own.
            asked.update { count in
                count += 1
                if count == 3 { allAsked.fire() }
            }
            allAsked.block()
            connection.answer()
            if connection.readToEnd() { ended.update { $0 += 1 } }
        }
        let rig = try UpstreamRig { $0.idleConnectionAgeMax = .seconds(1) }
        let records = (1...3).map { _ in rig.start(rig.request("GET", port: origin.port)) }
        for record in records { #expect(await record.ended().bodyText == "ok") }
        #expect(origin.connections.count == 3)
        try await ended.wait("the end of the idle connections", within: .seconds(25)) { $0 == 3 }
    }

    enum Remains: String, CaseIterable { case end, byte, endBehindByte }

    /// The age is 55 s here: what ends these is what the origin did.
    @Test(arguments: Remains.allCases)
    func idleConnectionIsClosedAfterAnEndOrBytesOfTheOrigin(by remains: Remains) async throws {
        let closed = Watched(false)
        let answered = Signal()
        let origin = try MisbehavingOrigin { connection in
            guard connection.readRequest() != nil else { return }
            connection.answer()
            answered.block()
            if remains != .end { connection.write("x") }
            if remains != .byte { connection.finishWriting() }
            let isClosed = connection.readToEnd()
            closed.update { $0 = isClosed }
        }
        let rig = try UpstreamRig()
        #expect(await rig.send(rig.request("GET", port: origin.port)).bodyText == "ok")
        answered.fire()
        try await closed.wait("our end of the connection", within: .seconds(25)) { $0 }
    }

    /// A transfer that its client makes wait is not idle: its connection has bytes to read all the time.
    @Test func pausedTransferDoesNotCountAsIdle() async throws {
        let closed = Signal()
        let text = String(repeating: "0123456789abcdef", count: 1 << 16)
        let origin = try MisbehavingOrigin { connection in
            guard connection.readRequest() != nil else { return }
            if connection.number == 1 {
                connection.answer(text)
                connection.readToEnd()
            } else {
                connection.answer()
                connection.finishWriting()
                if connection.readToEnd() { closed.fire() }
            }
        }
        let rig = try UpstreamRig { $0.bytesOutstandingMax = 64 << 10 }
        let paused = rig.start(rig.request("GET", port: origin.port), passesOn: false)
        let attempt = try #require(paused.attempt)
        _ = await paused.waitFor { _ in attempt.isReceivingPaused.load(ordering: .acquiring) }
        // The end of the transfer makes the worker check idle connections.
        #expect(await rig.send(rig.request("GET", port: origin.port)).bodyText == "ok")
        #expect(await closed.happened())
        await paused.passOnToTheEnd()
        #expect(paused.facts.bodyText == text)
        #expect(paused.facts.failure == nil)
    }
}
