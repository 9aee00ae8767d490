import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

/// All that is known of a request that is to become a ticket, but for its body.
struct TicketDraft {
    var request: UpstreamRequest
    var policy: Policy
    var route: String?
    var wish: PolicyWish
    var order: OrderWish
    var hasIdempotencyKey: Bool
    var createdAt: Timestamp
    var clientAddress: String
    var userAgent: String?

    /// Whether tokens are left in it whose values other tickets will bring.
    var hasTokens = false

    /// Takes over what was found out about its tokens.
    mutating func take(_ found: TicketTokens.Found) {
        let body = request.body
        request = found.request
        request.body = body
        hasTokens = found.hasTokens
        // What a token needs has to be there first.
        for parent in found.parents where !order.after.contains(parent) { order.after.append(parent) }
    }

    /// What the engine is asked for.
    func acceptance(
        id: EntryID, body: StoredBody, trailers: RequestFields?, mark: IdempotencyMark?, counts: AttemptCounts,
        notAfter: Timestamp?
    ) -> Acceptance {
        var ticket = TicketFacts(
            wish: wish, parents: order.after, notAfter: notAfter, preconditions: request.preconditions)
        ticket.counts = counts
        var new = NewEntry(
            id: id, method: request.method, url: request.shownURL, origin: request.origin, route: route,
            policy: policy,
            client: Entry.Client(address: clientAddress, isConnected: false, userAgent: userAgent),
            createdAt: createdAt, attemptCount: counts.all, requestByteCount: body.byteCount,
            isExposed: request.isExposed, parking: .init(delay: .zero, shutsGate: false, rule: .gate))
        new.ticket = ticket
        new.hasIdempotencyKey = hasIdempotencyKey
        new.lane = order.lane
        new.priority = order.priority
        new.preconditions = request.preconditions
        // The answer is stored without its trailers.
        let stored = StoredRequest(
            origin: request.origin, method: request.method, target: request.target, host: request.host,
            fields: TrailersWish.removed(from: request.fields), body: body, hasBody: request.framing != .none, trailers: trailers,
            hasTokens: hasTokens)
        return Acceptance(new: new, request: stored, mark: mark)
    }
}

extension UpstreamRequest {
    /// Whether whoever answers in the origin's place would learn something: a body, or credentials.
    var isExposed: Bool {
        guard purpose != .dial, origin.scheme == .http else { return false }
        return framing != .none || carriesCredentials
    }

    /// What a PUT expects of its target, as text that is equal for equal expectations (RFC 9110 section 13.1). Nil where
    /// it expects nothing.
    var preconditions: String? {
        guard method == "PUT" else { return nil }
        let conditions = fields.filter { Self.conditionNames.contains($0.name.lowercased()) }.map { String(buffer: $0.line) }
        return conditions.isEmpty ? nil : conditions.sorted().joined(separator: "\n")
    }

    private static let conditionNames: Set<String> = [
        "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range", "content-range",
    ]

    /// As people are shown it.
    var shownURL: String {
        switch purpose {
        case .dial: origin.authority
        case .transfer, .upgrade: origin.description + (target == "*" ? "" : target)
        }
    }
}
