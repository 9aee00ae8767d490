import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverEngine

/// The body with its real spool file and threads.
struct CapturedBodyTests {
    private let bench: BodyBench

    init() throws { bench = try BodyBench() }

    private func peeked(_ body: CapturedBody, atMost countMax: Int = 3000) async -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count < body.receivedByteCount {
            guard let portion = await body.peek(at: bytes.count, upTo: countMax) else { return nil }
            #expect((1...countMax).contains(portion.readableBytes))
            bytes += Array(portion.readableBytesView)
        }
        return bytes
    }

    @Test func peekingDoesNotAffectTheReader() async throws {
        let body = bench.body()
        let bytes = BodyBench.pattern(90_000)
        #expect(await peeked(body) == [])
        try await bench.send(Array(bytes[..<500]), to: body)
        #expect(await peeked(body) == Array(bytes[..<500]))
        let taker = BodyTaker(body, stopsAfter: 300)
        try await bench.send(Array(bytes[500..<15_000]), to: body)
        #expect(await peeked(body) == Array(bytes[..<15_000]), "from memory, and what is on its way to the file")
        taker.goOn()
        try await bench.send(Array(bytes[15_000...]), to: body)
        body.finish()
        let taken = try await taker.whole()
        #expect(taken.end == .end)
        #expect(taken.bytes == bytes)
        #expect(await peeked(body) == bytes, "from the file as well")
        #expect(await body.peek(at: 90_000, upTo: 10) == nil)
    }

    @Test func bodyThatIsNotKeptCannotBePeekedAt() async throws {
        let body = bench.body(twice: false)
        _ = body.append(ByteBuffer(bytes: BodyBench.pattern(500)))
        #expect(await peeked(body) == BodyBench.pattern(500))
        _ = BodyTaker(body, stopsAfter: 100)
        #expect(await body.peek(at: 0, upTo: 10) == nil)
    }

    @Test func aBodyLargerThanMemoryIsSentTwiceFromItsFile() async throws {
        let spool = bench.folder.spool()
        let body = bench.body(spool: spool)
        let bytes = BodyBench.pattern(200_000)
        try await bench.send(bytes, to: body)
        body.finish(trailers: ["A": "b"])
        #expect(body.receivedByteCount == 200_000)
        for _ in 0..<2 {
            let taken = try await BodyTaker(body).whole()
            #expect(taken.end == .end)
            #expect(taken.bytes == bytes)
            #expect(taken.trailers == ["A": "b"])
        }
        #expect(body.summary == .captured)
        #expect(spool.usedByteCount > 150_000)
        #expect(bench.folder.files.isEmpty, "spool files have no name")
    }

    @Test func fastReaderAndTheNextReaderGetTheCompleteBody() async throws {
        let body = bench.body()
        let bytes = BodyBench.pattern(100_000)
        let first = BodyTaker(body)
        try await bench.send(bytes, to: body)
        body.finish()
        #expect(try await first.whole().bytes == bytes)
        first.close()
        #expect(try await BodyTaker(body).whole().bytes == bytes)
    }

    @Test func stoppedReaderPausesTheClientAndNothingIsLost() async throws {
        let body = bench.body(twice: false)
        let taker = BodyTaker(body, stopsAfter: 500)
        var sent = 0
        while body.append(ByteBuffer(bytes: BodyBench.pattern(5000, from: sent))) { sent += 5000 }
        sent += 5000
        #expect(sent <= 30_000)
        #expect(bench.resumes.value == 0)
        taker.goOn()
        try await bench.resumes.wait("room for the client") { $0 > 0 }
        body.finish()
        #expect(try await taker.whole().bytes == BodyBench.pattern(sent))
        #expect(body.summary == .lost)
    }

    @Test func missingFolderCountsAsAFullDisk() async throws {
        let body = bench.body(spool: bench.folder.spool(below: "/missing/deeper"))
        #expect(body.append(ByteBuffer(bytes: BodyBench.pattern(900))))
        #expect(!body.append(ByteBuffer(bytes: BodyBench.pattern(30_000, from: 900))))
        let taker = BodyTaker(body)
        try await bench.resumes.wait("the reader to make room") { $0 > 0 }
        body.finish()
        #expect(try await taker.whole().bytes == BodyBench.pattern(30_900))
        #expect(body.summary == .lost)
    }

    @Test func spoolTotalLimitsAllBodiesTogetherAndIsReleased() async throws {
        let spool = bench.folder.spool(byteCountMax: 50_000)
        do {
            let first = try await bench.whole(45_000, spool)
            #expect(try await BodyTaker(first).whole().end == .end)
            let second = bench.body(spool: spool)
            #expect(!second.append(ByteBuffer(bytes: BodyBench.pattern(25_000))))
            #expect(second.summary == .arriving, "nobody reads: nothing is lost")
            let taker = BodyTaker(second)
            try await taker.taken.wait("what was received") { $0.bytes.count == 25_000 }
            second.finish()
            #expect(try await taker.whole().bytes == BodyBench.pattern(25_000))
        }
        #expect(spool.usedByteCount <= 50_000)
    }

    @Test func spaceOfABodyIsReleasedWithTheBody() async throws {
        let spool = bench.folder.spool()
        var body: CapturedBody? = try await bench.whole(80_000, spool)
        if let body { #expect(try await BodyTaker(body).whole().bytes.count == 80_000) }
        #expect(spool.usedByteCount > 0)
        weak let gone = body
        body = nil
        // The spool's thread may still be on its way out of the last write.
        let deadline = ContinuousClock.now + .seconds(20)
        while gone != nil || spool.usedByteCount > 0, ContinuousClock.now < deadline { await Task.yield() }
        #expect(gone == nil, "nothing holds a body that nobody needs")
        #expect(spool.usedByteCount == 0)
    }

    @Test func aClientThatBreaksOffEndsTheReader() async throws {
        let body = bench.body()
        let taker = BodyTaker(body)
        _ = body.append(ByteBuffer(bytes: BodyBench.pattern(10)))
        body.breakOff()
        #expect(try await taker.whole().end == .brokenOff)
        #expect(body.summary == .brokenOff)
        body.finish()
        #expect(body.summary == .brokenOff, "half a body never becomes a whole one")
    }

    @Test func manyTinyChunksAreJoined() async throws {
        let body = bench.body { $0.inMemoryMax = 0; $0.byteCountMax = 0 }
        for index in 0..<3000 {
            var large = ByteBuffer(repeating: 0, count: 4096)
            large.setInteger(UInt8(truncatingIfNeeded: index), at: 0)
            if let slice = large.getSlice(at: 0, length: 1) { _ = body.append(slice) }
        }
        body.finish()
        #expect(try await BodyTaker(body).whole().bytes == (0..<3000).map { UInt8(truncatingIfNeeded: $0) })
    }
}
