import LayoverCore
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverEngine

/// Bodies that outlive the process.
struct PersistenceTests {
    private let bench: BodyBench

    init() throws { bench = try BodyBench() }

    @Test(arguments: [0, 1, 999, 1000])
    func aSmallBodyIsKeptInline(count: Int) async throws {
        #expect(try await bench.persisted(bench.whole(count)) == .inline(ByteBuffer(bytes: BodyBench.pattern(count))))
        #expect(bench.folder.files.isEmpty)
    }

    @Test(arguments: [1001, 7001, 50_000, 300_000])
    func aBodyOverMemoryGetsANamedFileWithAllOfIt(count: Int) async throws {
        let spool = bench.folder.spool()
        #expect(try await bench.persisted(bench.whole(count, spool)) == .file(name: BodyBench.name, byteCount: count))
        #expect(bench.folder.files == [BodyBench.name])
        #expect(try bench.content() == BodyBench.pattern(count))
        #expect(try FileContent.mode(bench.path()) == 0o600)
        #expect(spool.usedByteCount == count, "its bytes are counted, once each")
    }

    @Test func aNamedFileOutlivesItsBodyAndStaysCounted() async throws {
        let spool = bench.folder.spool()
        #expect(try await bench.persisted(bench.whole(50_000, spool)) != .some(.none))
        #expect(bench.folder.files == [BodyBench.name])
        #expect(spool.usedByteCount == 50_000)
        spool.removedStored(50_000)
        #expect(spool.usedByteCount == 0)
    }

    @Test func persistBeforeTheEndCompletesAtTheEnd() async throws {
        let body = bench.body()
        bench.persist(body)
        try await bench.send(BodyBench.pattern(40_000), to: body)
        #expect(bench.results.value.isEmpty)
        body.finish()
        #expect(try await bench.result() == .file(name: BodyBench.name, byteCount: 40_000))
        #expect(try bench.content() == BodyBench.pattern(40_000))
    }

    @Test func bodyReadByAnAttemptIsPersistedCompletely() async throws {
        let body = bench.body()
        let taker = BodyTaker(body)
        bench.persist(body)
        try await bench.send(BodyBench.pattern(90_000), to: body)
        body.finish(trailers: ["A": "b"])
        #expect(try await bench.result() == .file(name: BodyBench.name, byteCount: 90_000))
        #expect(try await taker.whole().bytes == BodyBench.pattern(90_000))
        #expect(try bench.content() == BodyBench.pattern(90_000))
        let again = try await BodyTaker(body).whole()
        #expect(again.bytes == BodyBench.pattern(90_000))
        #expect(again.trailers == ["A": "b"])
    }

    @Test func unrepeatableBodyIsLostOnceAnAttemptHasReadIt() async throws {
        let body = bench.body(twice: false)
        _ = body.append(ByteBuffer(bytes: BodyBench.pattern(10)))
        let taker = BodyTaker(body)
        try await taker.taken.wait("some bytes") { $0.bytes.count == 10 }
        body.finish()
        #expect(try await bench.persisted(body) == nil)
    }

    @Test(arguments: [true, false])
    func aBodyThatBreaksOffIsNeverKept(isAskedFirst: Bool) async throws {
        let body = bench.body()
        if isAskedFirst { bench.persist(body) }
        try await bench.send(BodyBench.pattern(30_000), to: body)
        body.breakOff()
        if !isAskedFirst { bench.persist(body) }
        #expect(try await bench.result() == nil)
        body.finish()
        #expect(bench.results.value.isEmpty, "it is said once")
        #expect(bench.folder.files.isEmpty)
    }

    @Test func aBodyOverItsLimitIsStuckAndNotKept() async throws {
        let body = bench.body { $0.byteCountMax = 10_000 }
        #expect(!body.append(ByteBuffer(bytes: BodyBench.pattern(10_001))))
        try await bench.stuck.wait("word that it is stuck") { $0 > 0 }
        #expect(try await bench.persisted(body) == nil)
        body.finish()
        #expect(bench.folder.files.isEmpty)
    }

    @Test func exactlyTheLimitIsKept() async throws {
        let body = try await bench.whole(10_000) { $0.byteCountMax = 10_000 }
        #expect(try await bench.persisted(body) == .file(name: BodyBench.name, byteCount: 10_000))
        #expect(bench.stuck.value == 0)
    }

    @Test func fullSpoolRefusesAndReleasesItsBytes() async throws {
        let spool = bench.folder.spool(byteCountMax: 20_000)
        do {
            let body = bench.body(spool: spool)
            bench.persist(body)
            _ = body.append(ByteBuffer(bytes: BodyBench.pattern(900)))
            _ = body.append(ByteBuffer(bytes: BodyBench.pattern(30_000)))
            #expect(try await bench.result() == nil)
            try await bench.stuck.wait("word that it is stuck") { $0 > 0 }
            body.breakOff()
        }
        #expect(bench.folder.files.isEmpty)
        let next = try await bench.whole(15_000, spool)
        #expect(try await bench.persisted(next) == .file(name: BodyBench.name, byteCount: 15_000), "there is room again")
    }

    /// The rest of the body fits, its start, which was kept in memory, does not.
    @Test func spoolWithoutSpaceForThePrefixRefuses() async throws {
        let spool = bench.folder.spool(byteCountMax: 5500)
        let body = bench.body(spool: spool)
        _ = body.append(ByteBuffer(bytes: BodyBench.pattern(800)))
        _ = body.append(ByteBuffer(bytes: BodyBench.pattern(5000)))
        body.finish()
        #expect(try await bench.persisted(body) == nil)
        #expect(bench.folder.files.isEmpty)
        #expect(try await BodyTaker(body).whole().bytes == BodyBench.pattern(800) + BodyBench.pattern(5000), "it can still be sent")
    }

    @Test func missingFolderRefuses() async throws {
        let body = bench.body(spool: bench.folder.spool(below: "/missing/deeper"))
        bench.persist(body)
        _ = body.append(ByteBuffer(bytes: BodyBench.pattern(5000)))
        body.finish()
        #expect(try await bench.result() == nil)
    }

    @Test func aNameThatIsTakenIsNotOverwritten() async throws {
        let first = try await bench.whole(5000)
        _ = try await bench.persisted(first)
        let second = try await bench.whole(6000)
        #expect(try await bench.persisted(second) == nil)
        #expect(try bench.content() == BodyBench.pattern(5000))
    }

    @Test func disownedFileIsRemovedAndItsBytesAreReleased() async throws {
        let spool = bench.folder.spool()
        do {
            let body = try await bench.whole(50_000, spool)
            #expect(try await bench.persisted(body) == .file(name: BodyBench.name, byteCount: 50_000))
            body.disown()
            #expect(try await bench.persisted(body) == .file(name: BodyBench.name, byteCount: 50_000), "asked again, it is kept again")
            #expect(spool.usedByteCount == 50_000)
            body.disown()
            #expect(try await BodyTaker(body).whole().bytes == BodyBench.pattern(50_000), "it can still be sent")
        }
        try await spool.becomesEmpty()
        #expect(bench.folder.files.isEmpty)
    }

    /// Two threads may do what is asked first as the second thing.
    @Test func bodyThatIsStoredAgainAtOnceKeepsItsFile() async throws {
        let spool = bench.folder.spool()
        let names = (0..<400).map { "\($0).request" }
        var bodies: [CapturedBody] = []
        for name in names {
            let body = try await bench.whole(2000, spool)
            #expect(try await bench.persisted(body, as: name) == .file(name: name, byteCount: 2000))
            body.disown()
            #expect(try await bench.persisted(body, as: name) == .file(name: name, byteCount: 2000))
            bodies.append(body)
        }
        try await bench.folder.threads.shutdownGracefully()
        #expect(Set(bench.folder.files) == Set(names))
    }

    @Test func fileRemovedByTheStoreIsReleasedOnce() async throws {
        let spool = bench.folder.spool()
        do {
            let body = try await bench.whole(50_000, spool)
            _ = try await bench.persisted(body)
            FileContent.remove(bench.path())
            spool.removedStored(50_000)
            body.disown()
        }
        let other = bench.body(spool: spool)
        try await bench.send(BodyBench.pattern(9000), to: other)
        #expect(spool.usedByteCount >= 0)
    }

    // MARK: After a restart

    @Test(arguments: [1001, 20_000, 100_001])
    func aBodyIsReadFromItsFileAgainAndAgain(count: Int) async throws {
        let stored = try #require(try await bench.persisted(bench.whole(count)))
        let body = CapturedBody(stored, trailers: ["A": "b"], limits: .small(), spool: bench.folder.spool())
        #expect(body.length == count)
        #expect(body.receivedByteCount == count)
        #expect(body.summary == .captured)
        for _ in 0..<2 {
            let taken = try await BodyTaker(body).whole()
            #expect(taken.end == .end)
            #expect(taken.bytes == BodyBench.pattern(count))
            #expect(taken.trailers == ["A": "b"])
        }
        #expect(await body.collect(upTo: count)?.readableBytes == count)
        #expect(await body.collect(upTo: count - 1) == nil)
    }

    /// With it go its memory and the descriptor of its file.
    @Test(arguments: [500, 50_000])
    func collectedBodyIsReleased(count: Int) async throws {
        try FileContent.write(BodyBench.pattern(count), to: bench.path())
        let stored: [StoredBody] = [.inline(ByteBuffer(bytes: BodyBench.pattern(count))), .file(name: BodyBench.name, byteCount: count)]
        for stored in stored {
            weak var kept: CapturedBody?
            do {
                let body = bench.kept(stored)
                kept = body
                #expect(await body.collect(upTo: count)?.readableBytes == count)
            }
            // The thread that read it last may still be on its way out.
            let deadline = ContinuousClock.now + .seconds(60)
            while kept != nil, ContinuousClock.now < deadline { await Task.yield() }
            #expect(kept == nil, "\(stored)")
        }
    }

    @Test func missingFileBreaksOffAndIsNotAnEmptyBody() async throws {
        let body = bench.kept(.file(name: BodyBench.name, byteCount: 5000))
        #expect(try await BodyTaker(body).whole().end == .brokenOff)
        #expect(await body.collect(upTo: 10_000) == nil)
    }

    @Test func fileShorterThanItsRowBreaksOff() async throws {
        try FileContent.write(BodyBench.pattern(3000), to: bench.path())
        let body = bench.kept(.file(name: BodyBench.name, byteCount: 5000))
        let taken = try await BodyTaker(body).whole()
        #expect(taken.end == .brokenOff)
        #expect(taken.bytes == BodyBench.pattern(3000))
    }

    @Test func anInlineBodyBiggerThanMemoryIsReadWhole() async throws {
        let bytes = ByteBuffer(bytes: BodyBench.pattern(50_000))
        let body = bench.kept(.inline(bytes))
        #expect(try await BodyTaker(body).whole().bytes == BodyBench.pattern(50_000))
        #expect(bench.folder.files.isEmpty)
        #expect(await body.collect(upTo: 50_000) == bytes)
    }

    @Test func anEmptyBodyIsAnEmptyBody() async throws {
        for stored in [StoredBody.none, .inline(ByteBuffer())] {
            let body = bench.kept(stored)
            #expect(body.length == 0)
            let taken = try await BodyTaker(body).whole()
            #expect(taken.end == .end)
            #expect(taken.bytes.isEmpty)
            #expect(await body.collect(upTo: 0) == ByteBuffer())
        }
    }
}

extension BodySpool {
    /// The spool's threads may still be on their way out of their last work.
    func becomesEmpty() async throws {
        try await eventually("an empty spool") { usedByteCount == 0 }
    }
}
