import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverUpstream

@Suite(.bothPaths)
struct IdleConnectionTests {
    private let rig: UpstreamRig

    init() throws { rig = try UpstreamRig() }

    @Test func openConnectionsAndRequestsOnThemAreCounted() async throws {
        let (arrived, answered, ended) = (Signal(), Signal(), Signal())
        let origin = try MisbehavingOrigin { connection in
            guard connection.readRequest() != nil else { return }
            arrived.fire()
            answered.block()
            connection.answer()
            ended.block()
        }
        let request = rig.request("GET", port: origin.port)
        async let response = rig.send(request)
        #expect(await arrived.happened())
        try await waitForCounts([request.origin: ConnectionCount(open: 1, busy: 1)], rig)
        answered.fire()
        #expect(await response.status == 200)
        try await waitForCounts([request.origin: ConnectionCount(open: 1, busy: 0)], rig)
        ended.fire()
        try await waitForCounts([:], rig)
    }

    /// The dialler's own descriptor is closed a moment after the connection has begun.
    private func waitForCounts(_ expected: [Origin: ConnectionCount], _ rig: UpstreamRig) async throws {
        let deadline = ContinuousClock.now + .seconds(20)
        var counts: [Origin: ConnectionCount]
        repeat {
            counts = try await rig.eventLoop.submit { [worker = rig.worker] in worker.connectionCounts }.get()
        } while counts != expected && ContinuousClock.now < deadline
        #expect(counts == expected)
    }

    @Test(arguments: ["HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison", "x"])
    func bytesOnAnIdleConnectionNeverBecomeAResponse(poison: String) async throws {
        let answered = Signal()
        let poisoned = Signal()
        let origin = try MisbehavingOrigin { connection in
            guard connection.readRequest() != nil else { return }
            connection.answer("from \(connection.number)")
            guard connection.number == 1 else { return }
            answered.block()
            connection.write(poison)
            poisoned.fire()
            connection.readToEnd()
        }
        #expect(await rig.send(rig.request("GET", port: origin.port)).bodyText == "from 1")
        answered.fire()
        #expect(await poisoned.happened())
        let facts = await rig.send(rig.request("GET", port: origin.port))
        #expect(facts.events == ["head", "body", "end"])
        #expect(facts.bodyText == "from 2")
        #expect(facts.sendings == 1)
        #expect(origin.count(of: "GET /x") == 2)
        #expect(origin.connections.first?.receivedText.contains("GET /x") == true)
    }

    /// The bytes are in the kernel, and the loop has not read them yet when the next request begins.
    @Test(arguments: ["HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison", ""])
    func unreadBytesAreNoticedBeforeSending(poison: String) async throws {
        let (answered, poisoned) = (Signal(), Signal())
        let origin = try MisbehavingOrigin { connection in
            guard connection.readRequest() != nil else { return }
            connection.answer("from \(connection.number)")
            guard connection.number == 1 else { return }
            answered.block()
            if poison.isEmpty { connection.finishWriting() } else { connection.write(poison) }
            poisoned.fire()
            connection.readToEnd()
        }
        #expect(await rig.send(rig.request("GET", port: origin.port)).bodyText == "from 1")
        // The turn of the loop in which it comes goes on with the next request.
        let queued = Signal()
        rig.eventLoop.execute {
            queued.block()
            answered.fire()
            poisoned.block()
        }
        let record = rig.start(rig.request("GET", port: origin.port))
        queued.fire()
        let facts = await record.ended()
        #expect(facts.bodyText == "from 2")
        #expect(facts.sendings == 1)
        #expect(origin.connections.first?.receivedText.components(separatedBy: "GET /x").count == 2)
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok",
    ])
    func connectionOfADubiousResponseIsNotUsedAgain(answer: String) async throws {
        let origin = try MisbehavingOrigin.writing(answer)
        for _ in 1...2 {
            let facts = await rig.send(rig.request("GET", port: origin.port))
            #expect(facts.events == ["head", "body", "end"])
            #expect(facts.bodyText == "ok")
        }
        #expect(origin.connections.count == 2)
    }

    @Test func afterANetworkChangeNoOldConnectionIsUsed() async throws {
        let origin = try MisbehavingOrigin.answering()
        _ = await rig.send(rig.request("GET", port: origin.port))
        rig.eventLoop.execute { rig.worker.networkChanged() }
        _ = await rig.send(rig.request("GET", port: origin.port))
        _ = await rig.send(rig.request("GET", port: origin.port))
        #expect(origin.connections.count == 2)
    }

    @Test func attemptThatNeedsAFreshConnectionGetsOne() async throws {
        let origin = try MisbehavingOrigin.answering()
        _ = await rig.send(rig.request("GET", port: origin.port))
        _ = await rig.send(rig.request("GET", port: origin.port), needsFreshConnection: true)
        #expect(origin.connections.count == 2)
    }
}
