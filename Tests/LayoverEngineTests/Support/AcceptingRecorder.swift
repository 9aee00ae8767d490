import LayoverCore
import LayoverEngine
import LayoverTestSupport
import NIOCore

/// Keeps what it is told of the ticket that it asked for.
final class AcceptingRecorder: AcceptingExchange {
    let results = Watched<[AcceptanceResult]>([])

    func acceptance(_ result: AcceptanceResult) { results.update { $0.append(result) } }

    /// The word, once it has come; it never comes twice.
    func result() async throws -> AcceptanceResult {
        try await results.take("word of the acceptance") { $0.isEmpty ? nil : $0.removeFirst() }
    }
}

extension EngineBench {
    /// A request that asks to be a ticket.
    func acceptance(
        of id: EntryID? = nil, after parents: [EntryID] = [], mark: IdempotencyMark? = nil, body: StoredBody = .none, repeatable: Bool = false,
        lane: String? = nil
    ) -> Acceptance {
        let id = id ?? exchange().id
        var new = NewEntry(
            id: id, method: "POST", url: "\(Self.origin)/x", origin: Self.origin, policy: Self.policy(),
            client: .init(address: "127.0.0.1"), createdAt: clock.now(), requestByteCount: body.byteCount,
            parking: .init(delay: .zero, shutsGate: false))
        new.ticket = TicketFacts(parents: parents)
        new.lane = lane
        new.request.hasIdempotencyKey = repeatable
        return Acceptance(
            new: new,
            request: StoredRequest(
                origin: Self.origin, method: "POST", target: "/x", host: "origin.test", fields: [:], body: body,
                hasBody: body != .none),
            mark: mark)
    }

    func accept(_ acceptance: Acceptance) -> AcceptingRecorder {
        let recorder = AcceptingRecorder()
        engine.post(.accept(acceptance, recorder))
        return recorder
    }

    /// One that must be accepted.
    func ticket(after parents: [EntryID] = [], repeatable: Bool = false, lane: String? = nil) async throws -> EntryID {
        let acceptance = acceptance(after: parents, repeatable: repeatable, lane: lane)
        guard case .accepted(let id, _) = try await accept(acceptance).result() else { throw WaitedTooLong(what: "an acceptance") }
        await settle()
        return id
    }

    func deliver(_ id: EntryID, _ response: StoredResponse = .init(status: 200, fields: ByteBuffer(), body: .none)) async {
        engine.post(.ticketDelivered(id, response, nil, AttemptTally(AttemptCounts(all: 1), automaticLeft: nil, isBodyReplayable: true)))
        await settle()
    }

    /// Until everything that was changed about a ticket is on disk.
    func waitUntilSaved(_ id: EntryID) async throws {
        try await eventually("the store") { await engine.isSaved(id) }
    }
}

extension AcceptanceResult {
    var accepted: EntryID? { if case .accepted(let id, _) = self { id } else { nil } }
    var duplicate: EntryID? { if case .duplicate(let id, _) = self { id } else { nil } }
}
