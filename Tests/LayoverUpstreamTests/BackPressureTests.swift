import Dispatch
import LayoverEngine
import LayoverTestSupport
import NIOCore
import Synchronization
import Testing

@testable import LayoverUpstream

/// Memory stays bounded in both directions.
@Suite(.bothPaths)
struct BackPressureTests {
    @Test func downloadToASlowClientWaits() async throws {
        let total = 64 << 20
        let piece = [UInt8](repeating: 0x61, count: 1 << 20)
        let origin = try MisbehavingOrigin { connection in
            guard connection.readRequest() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(total)\r\n\r\n")
            for _ in 0..<(total / piece.count) where !connection.write(piece) { return }
        }
        let rig = try UpstreamRig()
        let record = rig.start(rig.request("GET", port: origin.port), passesOn: false)
        let attempt = try #require(record.attempt)
        // Takes away what has come, again and again, until all of it has.
        var highest = 0
        while true {
            let paused = await record.waitFor { facts in
                facts.terminalCount > 0
                    || attempt.isReceivingPaused.load(ordering: .acquiring)
            }
            highest = max(highest, attempt.bytesOutstanding.load(ordering: .acquiring))
            if paused.terminalCount > 0 || paused.isTimedOut { break }
            record.passOn()
        }
        let facts = await record.ended()
        #expect(facts.events == ["head", "body", "end"])
        #expect(facts.body.count == total)
        #expect(highest <= (512 << 10) + (64 << 10))
    }

    /// A piece that comes alone in its turn of the worker counts too: it is sent when the one before has been handed over.
    @Test func piecesThatComeOneByOneArePaused() async throws {
        let (piece, count) = ([UInt8](repeating: 0x61, count: 4 << 10), 64)
        let next = DispatchSemaphore(value: 0)
        let origin = try MisbehavingOrigin { connection in
            guard connection.readRequest() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(count * piece.count)\r\n\r\n")
            for _ in 0..<count {
                next.wait()
                guard connection.write(piece) else { return }
            }
        }
        let rig = try UpstreamRig { $0.bytesOutstandingMax = 64 << 10 }
        let record = rig.start(rig.request("GET", port: origin.port), passesOn: false)
        let attempt = try #require(record.attempt)
        var sent = 0
        while sent < count, !attempt.isReceivingPaused.load(ordering: .acquiring) {
            sent += 1
            next.signal()
            let expected = sent * piece.count
            let facts = await record.waitFor { $0.body.count >= expected || attempt.isReceivingPaused.load(ordering: .acquiring) }
            if facts.isTimedOut { break }
        }
        let isPaused = attempt.isReceivingPaused.load(ordering: .acquiring)
        #expect(isPaused)
        #expect(record.facts.body.count <= (64 << 10) + piece.count)
        for _ in sent..<count { next.signal() }
        await record.passOnToTheEnd()
        let facts = await record.ended()
        #expect(facts.events == ["head", "body", "end"])
        #expect(facts.body.count == count * piece.count)
    }

    /// An echo: while the client does not take the response, its body still goes up.
    @Test func uploadGoesOnWhileTheResponseIsPaused() async throws {
        let total = 4 << 20
        let piece = [UInt8](repeating: 0x61, count: 256 << 10)
        let uploaded = Signal()
        let origin = try MisbehavingOrigin { connection in
            guard connection.readHead() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(total)\r\n\r\n")
            OriginThreads.start {
                for _ in 0..<(total / piece.count) where !connection.write(piece) { return }
            }
            if connection.read(total) != nil { uploaded.fire() }
            connection.readToEnd()
        }
        let rig = try UpstreamRig()
        let body = rig.emptyBody(length: total)
        let record = rig.start(
            rig.request("POST", port: origin.port, framing: .length(total), body: body), passesOn: false)
        let attempt = try #require(record.attempt)
        _ = await record.waitFor { _ in
            attempt.isReceivingPaused.load(ordering: .acquiring)
        }
        // In pieces, so that sending is paused and resumed while receiving is paused.
        for _ in 0..<(total / (16 << 10)) {
            _ = body.append(ByteBuffer(repeating: 0x62, count: 16 << 10))
            await Task.yield()
        }
        body.finish()
        #expect(await uploaded.happened())
        #expect(record.facts.body.count <= (512 << 10) + (64 << 10))
        await record.passOnToTheEnd()
        let facts = await record.ended()
        #expect(facts.events == ["head", "body", "end"])
        #expect(facts.body.count == total)
    }

    /// How the connection ends behind what the client has not taken yet.
    enum Ending: CaseIterable {
        case resetWhenComplete, resetWhenIncomplete, endOfTheBody

        var framing: String {
            switch self {
            case .resetWhenComplete: "Content-Length: 32768"
            case .resetWhenIncomplete: "Content-Length: 32769"
            case .endOfTheBody: "Connection: close"
            }
        }
    }

    @Test(arguments: Ending.allCases) func endBehindWhatTheClientHasNotTakenChangesNothingBefore(ending: Ending) async throws {
        let text = String(repeating: "0123456789abcdef", count: 2 << 10)
        let origin = try MisbehavingOrigin { connection in
            guard connection.readRequest() != nil else { return }
            guard connection.number == 1 else {
                connection.answer()
                return
            }
            connection.write("HTTP/1.1 200 OK\r\n\(ending.framing)\r\n\r\n\(text)")
            if ending == .endOfTheBody { connection.close() } else { connection.reset() }
        }
        let rig = try UpstreamRig { $0.bytesOutstandingMax = 4 << 10 }
        let record = rig.start(rig.request("GET", port: origin.port), passesOn: false)
        let attempt = try #require(record.attempt)
        _ = await record.waitFor { _ in attempt.isReceivingPaused.load(ordering: .acquiring) }
        // By the time of its answer the loop has met the end.
        #expect(await rig.send(rig.request("GET", port: origin.port)).bodyText == "ok")
        #expect(record.facts.terminalCount == 0)
        await record.passOnToTheEnd()
        #expect(record.facts.bodyText == text)
        #expect((record.facts.failure == nil) == (ending != .resetWhenIncomplete))
    }
}
