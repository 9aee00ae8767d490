import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore
import NIOPosix

/// Tickets over an engine that has a store. They wait, because an admin said offline.
extension AdminHarness {
    /// Has a request accepted, and waits until it is on disk.
    @discardableResult
    func accept(
        _ number: UInt64, method: String = "POST", lane: String? = nil, parents: [EntryID] = [],
        notAfter: Timestamp? = nil, policy: Policy = .standard, fields: RequestFields = [:], body: StoredBody = .none
    ) async throws -> EntryID {
        _ = await engine.setMode(.offline, reason: nil)
        let id = Self.id(number)
        let origin = Origin(scheme: .http, host: "shop.example")
        var new = NewEntry(
            id: id, method: method, url: "http://shop.example/orders", origin: origin, policy: policy,
            client: .init(address: "127.0.0.1:5", isConnected: false), createdAt: engine.clock.now(),
            requestByteCount: body.byteCount, parking: .init(delay: .zero, shutsGate: false, rule: .gate))
        new.lane = lane
        new.ticket = TicketFacts(parents: parents, notAfter: notAfter)
        let request = StoredRequest(
            origin: origin, method: method, target: "/orders", host: "shop.example",
            fields: fields, body: body, hasBody: body != .none)
        let (results, result) = AsyncStream.makeStream(of: AcceptanceResult.self)
        engine.post(.accept(Acceptance(new: new, request: request), AcceptedExchange(told: result)))
        for await result in results {
            guard case .accepted(id, _) = result else { throw NotAccepted(result: result) }
            break
        }
        return id
    }

    struct NotAccepted: Error {
        var result: AcceptanceResult
    }
}

/// The exchange that asks for a ticket.
private final class AcceptedExchange: AcceptingExchange {
    private let told: AsyncStream<AcceptanceResult>.Continuation

    init(told: AsyncStream<AcceptanceResult>.Continuation) { self.told = told }

    func acceptance(_ result: AcceptanceResult) { told.yield(result) }
}
