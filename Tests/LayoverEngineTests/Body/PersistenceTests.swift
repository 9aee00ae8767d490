import LayoverCore
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverEngine

/// Bodies that outlive the process.
struct PersistenceTests {
    private let folder: SpoolFolder
    private let resumes = Watched(0)
    private let stuck = Watched(0)
    private let results = Watched<[StoredBody?]>([])
    private static let name = "0123456789abcdef0123456789abcdef.request"

    init() throws { folder = try SpoolFolder() }

    private func body(
        twice: Bool = true, spool: BodySpool? = nil, change: (inout CapturedBody.Limits) -> Void = { _ in }
    ) -> CapturedBody {
        CapturedBody(
            length: nil, mayBeSentTwice: twice, limits: .small(change), spool: spool ?? folder.spool(),
            clientResumed: { [resumes] in resumes.update { $0 += 1 } }, stuck: { [stuck] in stuck.update { $0 += 1 } })
    }

    private static func pattern(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 131 &+ $0 >> 9) }
    }

    private func send(_ bytes: [UInt8], to body: CapturedBody) async throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let before = resumes.value
            let part = rest.prefix(7000)
            rest = rest.dropFirst(7000)
            if !body.append(ByteBuffer(bytes: part)) { try await resumes.wait("room for the client") { $0 > before } }
        }
    }

    private func persist(_ body: CapturedBody, as name: String = Self.name) {
        body.persist(as: name) { [results] stored in results.update { $0.append(stored) } }
    }

    /// A body of so many bytes that is whole, and is to outlive us.
    @discardableResult
    private func persistedBody(_ count: Int, _ spool: BodySpool? = nil) async throws -> CapturedBody {
        let body = body(spool: spool)
        try await send(Self.pattern(count), to: body)
        body.finish()
        persist(body)
        return body
    }

    /// What came of it; `.some(nil)` where it could not be kept.
    private func result() async throws -> StoredBody? {
        try await results.take("the end of persisting") { $0.isEmpty ? nil : .some($0.removeFirst()) }
    }

    private func content(of name: String = Self.name) throws -> [UInt8] {
        try [UInt8](FileContent.read(folder.path + "/" + name))
    }

    @Test(arguments: [0, 1, 999, 1000])
    func aSmallBodyIsKeptInline(count: Int) async throws {
        try await persistedBody(count)
        #expect(try await result() == .inline(ByteBuffer(bytes: Self.pattern(count))))
        #expect(folder.files.isEmpty)
    }

    @Test(arguments: [1001, 7001, 50_000, 300_000])
    func aBodyOverMemoryGetsANamedFileWithAllOfIt(count: Int) async throws {
        let spool = folder.spool()
        try await persistedBody(count, spool)
        #expect(try await result() == .file(name: Self.name, byteCount: count))
        #expect(folder.files == [Self.name])
        #expect(try content() == Self.pattern(count))
        #expect(try FileContent.mode(folder.path + "/" + Self.name) == 0o600)
        #expect(spool.usedByteCount == count, "its bytes are counted, once each")
    }

    @Test func aNamedFileOutlivesItsBodyAndStaysCounted() async throws {
        let spool = folder.spool()
        do {
            try await persistedBody(50_000, spool)
            #expect(try await result() != .some(.none))
        }
        #expect(folder.files == [Self.name])
        #expect(spool.usedByteCount == 50_000)
        spool.removedStored(50_000)
        #expect(spool.usedByteCount == 0)
    }

    @Test func persistBeforeTheEndCompletesAtTheEnd() async throws {
        let body = body()
        persist(body)
        try await send(Self.pattern(40_000), to: body)
        #expect(results.value.isEmpty)
        body.finish()
        #expect(try await result() == .file(name: Self.name, byteCount: 40_000))
        #expect(try content() == Self.pattern(40_000))
    }

    @Test func bodyReadByAnAttemptIsPersistedCompletely() async throws {
        let body = body()
        let taker = BodyTaker(body)
        persist(body)
        try await send(Self.pattern(90_000), to: body)
        body.finish(trailers: ["A": "b"])
        #expect(try await result() == .file(name: Self.name, byteCount: 90_000))
        #expect(try await taker.whole().bytes == Self.pattern(90_000))
        #expect(try content() == Self.pattern(90_000))
        let again = try await BodyTaker(body).whole()
        #expect(again.bytes == Self.pattern(90_000))
        #expect(again.trailers == ["A": "b"])
    }

    @Test func unrepeatableBodyIsLostOnceAnAttemptHasReadIt() async throws {
        let body = body(twice: false)
        _ = body.append(ByteBuffer(bytes: Self.pattern(10)))
        let taker = BodyTaker(body)
        try await taker.taken.wait("some bytes") { $0.bytes.count == 10 }
        body.finish()
        persist(body)
        #expect(try await result() == nil)
    }

    @Test(arguments: [true, false])
    func aBodyThatBreaksOffIsNeverKept(isAskedFirst: Bool) async throws {
        let body = body()
        if isAskedFirst { persist(body) }
        try await send(Self.pattern(30_000), to: body)
        body.breakOff()
        if !isAskedFirst { persist(body) }
        #expect(try await result() == nil)
        body.finish()
        #expect(results.value.isEmpty, "it is said once")
        #expect(folder.files.isEmpty)
    }

    @Test func aBodyOverItsLimitIsStuckAndNotKept() async throws {
        let body = body { $0.byteCountMax = 10_000 }
        #expect(!body.append(ByteBuffer(bytes: Self.pattern(10_001))))
        try await stuck.wait("word that it is stuck") { $0 > 0 }
        persist(body)
        #expect(try await result() == nil)
        body.finish()
        #expect(folder.files.isEmpty)
    }

    @Test func exactlyTheLimitIsKept() async throws {
        let body = body { $0.byteCountMax = 10_000 }
        try await send(Self.pattern(10_000), to: body)
        body.finish()
        persist(body)
        #expect(try await result() == .file(name: Self.name, byteCount: 10_000))
        #expect(stuck.value == 0)
    }

    @Test func fullSpoolRefusesAndReleasesItsBytes() async throws {
        let spool = folder.spool(byteCountMax: 20_000)
        do {
            let body = body(spool: spool)
            persist(body)
            _ = body.append(ByteBuffer(bytes: Self.pattern(900)))
            _ = body.append(ByteBuffer(bytes: Self.pattern(30_000)))
            #expect(try await result() == nil)
            try await stuck.wait("word that it is stuck") { $0 > 0 }
            body.breakOff()
        }
        #expect(folder.files.isEmpty)
        let next = body(spool: spool)
        try await send(Self.pattern(15_000), to: next)
        next.finish()
        persist(next)
        #expect(try await result() == .file(name: Self.name, byteCount: 15_000), "there is room again")
    }

    /// The rest of the body fits, its start, which was kept in memory, does not.
    @Test func spoolWithoutSpaceForThePrefixRefuses() async throws {
        let spool = folder.spool(byteCountMax: 5500)
        let body = body(spool: spool)
        _ = body.append(ByteBuffer(bytes: Self.pattern(800)))
        _ = body.append(ByteBuffer(bytes: Self.pattern(5000)))
        body.finish()
        persist(body)
        #expect(try await result() == nil)
        #expect(folder.files.isEmpty)
        #expect(try await BodyTaker(body).whole().bytes == Self.pattern(800) + Self.pattern(5000), "it can still be sent")
    }

    @Test func missingFolderRefuses() async throws {
        let body = body(spool: folder.spool(below: "/missing/deeper"))
        persist(body)
        _ = body.append(ByteBuffer(bytes: Self.pattern(5000)))
        body.finish()
        #expect(try await result() == nil)
    }

    @Test func aNameThatIsTakenIsNotOverwritten() async throws {
        let first = body()
        try await send(Self.pattern(5000), to: first)
        first.finish()
        persist(first)
        _ = try await result()
        let second = body()
        try await send(Self.pattern(6000), to: second)
        second.finish()
        persist(second)
        #expect(try await result() == nil)
        #expect(try content() == Self.pattern(5000))
    }

    @Test func disownedFileIsRemovedAndItsBytesAreReleased() async throws {
        let spool = folder.spool()
        do {
            let body = try await persistedBody(50_000, spool)
            #expect(try await result() == .file(name: Self.name, byteCount: 50_000))
            body.disown()
            persist(body)
            #expect(try await result() == .file(name: Self.name, byteCount: 50_000), "asked again, it is kept again")
            #expect(spool.usedByteCount == 50_000)
            body.disown()
            #expect(try await BodyTaker(body).whole().bytes == Self.pattern(50_000), "it can still be sent")
        }
        try await spool.becomesEmpty()
        #expect(folder.files.isEmpty)
    }

    /// Two threads may do what is asked first as the second thing.
    @Test func bodyThatIsStoredAgainAtOnceKeepsItsFile() async throws {
        let spool = folder.spool()
        let names = (0..<400).map { "\($0).request" }
        var bodies: [CapturedBody] = []
        for name in names {
            let body = body(spool: spool)
            try await send(Self.pattern(2000), to: body)
            body.finish()
            persist(body, as: name)
            #expect(try await result() == .file(name: name, byteCount: 2000))
            body.disown()
            persist(body, as: name)
            #expect(try await result() == .file(name: name, byteCount: 2000))
            bodies.append(body)
        }
        try await folder.threads.shutdownGracefully()
        #expect(Set(folder.files) == Set(names))
    }

    @Test func fileRemovedByTheStoreIsReleasedOnce() async throws {
        let spool = folder.spool()
        do {
            let body = try await persistedBody(50_000, spool)
            _ = try await result()
            FileContent.remove(folder.path + "/" + Self.name)
            spool.removedStored(50_000)
            body.disown()
        }
        let other = body(spool: spool)
        try await send(Self.pattern(9000), to: other)
        #expect(spool.usedByteCount >= 0)
    }

    // MARK: After a restart

    @Test(arguments: [1001, 20_000, 100_001])
    func aBodyIsReadFromItsFileAgainAndAgain(count: Int) async throws {
        try await persistedBody(count)
        let stored = try #require(try await result())
        let body = CapturedBody(stored, trailers: ["A": "b"], limits: .small(), spool: folder.spool())
        #expect(body.length == count)
        #expect(body.receivedByteCount == count)
        #expect(body.summary == .captured)
        for _ in 0..<2 {
            let taken = try await BodyTaker(body).whole()
            #expect(taken.end == .end)
            #expect(taken.bytes == Self.pattern(count))
            #expect(taken.trailers == ["A": "b"])
        }
        #expect(await body.collect(upTo: count)?.readableBytes == count)
        #expect(await body.collect(upTo: count - 1) == nil)
    }

    /// With it go its memory and the descriptor of its file.
    @Test(arguments: [500, 50_000])
    func collectedBodyIsReleased(count: Int) async throws {
        try FileContent.write(Self.pattern(count), to: folder.path + "/" + Self.name)
        let stored: [StoredBody] = [.inline(ByteBuffer(bytes: Self.pattern(count))), .file(name: Self.name, byteCount: count)]
        for stored in stored {
            weak var kept: CapturedBody?
            do {
                let body = CapturedBody(stored, limits: .small(), spool: folder.spool())
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
        let body = CapturedBody(.file(name: Self.name, byteCount: 5000), limits: .small(), spool: folder.spool())
        #expect(try await BodyTaker(body).whole().end == .brokenOff)
        #expect(await body.collect(upTo: 10_000) == nil)
    }

    @Test func fileShorterThanItsRowBreaksOff() async throws {
        try FileContent.write(Self.pattern(3000), to: folder.path + "/" + Self.name)
        let body = CapturedBody(.file(name: Self.name, byteCount: 5000), limits: .small(), spool: folder.spool())
        let taken = try await BodyTaker(body).whole()
        #expect(taken.end == .brokenOff)
        #expect(taken.bytes == Self.pattern(3000))
    }

    @Test func anInlineBodyBiggerThanMemoryIsReadWhole() async throws {
        let bytes = ByteBuffer(bytes: Self.pattern(50_000))
        let body = CapturedBody(.inline(bytes), limits: .small(), spool: folder.spool())
        #expect(try await BodyTaker(body).whole().bytes == Self.pattern(50_000))
        #expect(folder.files.isEmpty)
        #expect(await body.collect(upTo: 50_000) == bytes)
    }

    @Test func anEmptyBodyIsAnEmptyBody() async throws {
        for stored in [StoredBody.none, .inline(ByteBuffer())] {
            let body = CapturedBody(stored, limits: .small(), spool: folder.spool())
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
