import Foundation
import LayoverCore
import LayoverTestSupport
import NIOCore
import NIOPosix
import Testing

@testable import LayoverEngine
@testable import LayoverProxy

/// Bodies that fail while a ticket is searched for its tokens.
struct TicketReadingTests {
    private let folder: TemporaryFolder
    private let spool: BodySpool
    private let disk: MemoryDisk
    /// Done before each commit.
    private let beforeCommit = Watched<@Sendable () -> Void>({})
    private let store: MemoryStore
    private static let body = #"{"a":""# + String(repeating: "x", count: 200_000) + #""}"#

    init() throws {
        folder = try TemporaryFolder()
        spool = BodySpool(folder: folder.url.path, byteCountMax: 1 << 30, threads: .singleton)
        disk = MemoryDisk(spoolFolder: folder.url.path)
        store = MemoryStore(
            on: disk,
            faults: MemoryFaults(trouble: { [beforeCommit] in
                beforeCommit.value()
                return nil
            }))
    }

    private func reading(parents: [EntryID] = []) -> TicketReading {
        TicketReading(
            store: store,
            replay: TicketReplay(
                request: TicketRecord.fixture(1).request, ticket: TicketFacts(parents: parents), trigger: .dueTime,
                policy: .standard, route: nil, routes: RouteTable(), counts: AttemptCounts(), isForced: false, skipsPreflight: false),
            limits: CapturedBody.Limits(), spool: spool)
    }

    private func insert(target: String = "/things", body: StoredBody = .none) async throws {
        var request = StoredRequest.fixture(body)
        request.target = target
        request.fields = ["Content-Type": "application/json"]
        request.hasTokens = true
        _ = try await store.commit([.insert(.fixture(1), request, nil)])
    }

    private static func name(_ id: Int, _ suffix: String) -> String { "\(EntryID.fixture(id)).\(suffix)" }

    /// The file was complete when it was opened. The rest of its content is unknown, so nothing is sent. What the
    /// file has lost for good is seen when it is opened the next time.
    @Test(arguments: [0, 1, 70_000])
    func bodyFileTruncatedDuringTheTokenSearchIsNotSent(byteCount: Int) async throws {
        let name = Self.name(1, "request")
        let path = try folder.write(Self.body, to: name)
        try await insert(body: .file(name: name, byteCount: Self.body.utf8.count))
        beforeCommit.update { $0 = { truncate(path, off_t(byteCount)) } }
        guard case .unreadable(let failure) = await reading().read() else { throw Unexpected() }
        #expect(failure.message == "The file of the request body could not be read.")
        #expect(failure.evidence == .neverSent)
        guard case .rejected(let failure) = await reading().read() else { throw Unexpected() }
        #expect(failure.message.contains("is incomplete: it has \(byteCount) of \(Self.body.utf8.count) bytes"))
    }

    /// An open file stays readable after its deletion.
    @Test func bodyFileDeletedDuringTheTokenSearchIsSentCompletely() async throws {
        let name = Self.name(1, "request")
        let path = try folder.write(Self.body, to: name)
        try await insert(body: .file(name: name, byteCount: Self.body.utf8.count))
        beforeCommit.update { $0 = { unlink(path) } }
        guard case .ready(_, let body) = await reading().read() else { throw Unexpected() }
        #expect(await body?.collect(upTo: 1 << 20) == ByteBuffer(string: Self.body))
    }

    enum Loss: CaseIterable { case gone, cut, none }

    /// The response of the parent is lost for good: waiting does not help.
    @Test(arguments: Loss.allCases)
    func ticketIsUndecidedIfTheResponseOfItsParentIsLost(loss: Loss) async throws {
        let (answer, name) = (#"{"id":7}"#, Self.name(2, "answer"))
        let path = try folder.write(answer, to: name)
        _ = try await store.commit([.insert(.fixture(2), .fixture(), nil)])
        var parent = TicketRecord.fixture(2, revision: 2, state: .delivered)
        parent.counts = AttemptCounts(all: 1, automatic: 1)
        _ = try await store.commit([
            .delivered(
                parent,
                StoredResponse(
                    status: 201, fields: ByteBuffer(string: "Content-Type: application/json\0"),
                    body: .file(name: name, byteCount: answer.utf8.count)))
        ])
        try await insert(target: "/things/~ticket.\(EntryID.fixture(2)).json.id~")
        switch loss {
        case .gone: #expect(unlink(path) == 0)
        case .cut: #expect(truncate(path, 3) == 0)
        case .none: break
        }
        switch (await reading(parents: [.fixture(2)]).read(), loss) {
        case (.ready(let request, _), .none): #expect(request.target == "/things/7")
        case (.rejected(let failure), .gone), (.rejected(let failure), .cut):
            #expect(failure.message.contains("was not stored"))
        case (let result, _): Issue.record("\(loss): \(result)")
        }
    }

    private struct Unexpected: Error {}
}
