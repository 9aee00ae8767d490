import LayoverEngine
import LayoverTestSupport
import NIOCore

/// Bodies in a spool folder of its own, and what they report.
struct BodyBench {
    static let name = "0123456789abcdef0123456789abcdef.request"

    let folder: SpoolFolder
    let resumes = Watched(0)
    let stuck = Watched(0)
    let results = Watched<[StoredBody?]>([])

    init() throws { folder = try SpoolFolder() }

    static func pattern(_ count: Int, from start: Int = 0) -> [UInt8] {
        (start..<start + count).map { UInt8(truncatingIfNeeded: $0 &* 131 &+ $0 >> 9) }
    }

    func body(
        twice: Bool = true, spool: BodySpool? = nil, change: (inout CapturedBody.Limits) -> Void = { _ in }
    ) -> CapturedBody {
        CapturedBody(
            length: nil, mayBeSentTwice: twice, limits: .small(change), spool: spool ?? folder.spool(),
            clientResumed: { [resumes] in resumes.update { $0 += 1 } }, stuck: { [stuck] in stuck.update { $0 += 1 } })
    }

    /// Sends as a well-behaved client: waits when it is told to.
    func send(_ bytes: [UInt8], to body: CapturedBody) async throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let before = resumes.value
            let part = rest.prefix(7000)
            rest = rest.dropFirst(7000)
            if !body.append(ByteBuffer(bytes: part)) { try await resumes.wait("room for the client") { $0 > before } }
        }
    }

    /// A body of so many bytes that has come whole.
    func whole(
        _ count: Int, _ spool: BodySpool? = nil, change: (inout CapturedBody.Limits) -> Void = { _ in }
    ) async throws -> CapturedBody {
        let body = body(spool: spool, change: change)
        try await send(Self.pattern(count), to: body)
        body.finish()
        return body
    }

    // MARK: Persisting

    func persist(_ body: CapturedBody, as name: String = Self.name, isForced: Bool = false) {
        body.persist(as: name, isForced: isForced) { [results] stored in results.update { $0.append(stored) } }
    }

    /// The stored body; `.some(nil)` if it could not be kept.
    func result() async throws -> StoredBody? {
        try await results.take("the end of persisting") { $0.isEmpty ? nil : .some($0.removeFirst()) }
    }

    func persisted(_ body: CapturedBody, as name: String = Self.name, isForced: Bool = false) async throws -> StoredBody? {
        persist(body, as: name, isForced: isForced)
        return try await result()
    }

    func path(of name: String = Self.name) -> String { folder.path + "/" + name }

    func content(of name: String = Self.name) throws -> [UInt8] { try [UInt8](FileContent.read(path(of: name))) }

    /// A body that an earlier run has kept.
    func kept(_ stored: StoredBody) -> CapturedBody { CapturedBody(stored, limits: .small(), spool: folder.spool()) }
}
