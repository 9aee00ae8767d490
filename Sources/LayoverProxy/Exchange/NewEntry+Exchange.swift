import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

extension NewEntry {
    /// How an exchange asks to join the pending set.
    init(of exchange: Exchange, _ failure: Failure? = nil, _ parking: Verdict.Parking = .atGate) {
        let tally = exchange.takeTally()
        self.init(of: exchange, id: EntryID(using: &exchange.loop.generator), tally, failure, parking)
        wantsTicket = exchange.conversion?.wish != nil
        if case .cache = exchange.recipient { isRefresh = true }
    }

    init(
        of exchange: Exchange, id: EntryID, _ tally: AttemptTally, _ failure: Failure? = nil, _ parking: Verdict.Parking = .atGate
    ) {
        let request = exchange.request
        var client = Entry.Client(address: "cache", isConnected: false, userAgent: nil)
        if let recipient = exchange.client {
            client = Entry.Client(address: recipient.connection?.clientAddress ?? "unknown", userAgent: recipient.takeUserAgent())
            client.isConnected = !recipient.isGone
            client.serverName = recipient.connection?.intercepted?.serverName
        }
        self.init(
            RequestDescription(
                id: id, method: request.method, url: request.shownURL, origin: request.origin, createdAt: exchange.createdAt,
                hasIdempotencyKey: exchange.hasIdempotencyKey, isExposed: request.isExposed,
                preconditions: request.preconditions),
            client: client, route: exchange.route, policy: exchange.machine.attempts.policy, tally,
            requestByteCount: request.body?.receivedByteCount ?? 0, failure: failure, parking: parking)
        parentProxyGate = request.parentProxy?.gate
        attemptParentProxyGate = exchange.machine.attempts.attemptCount == 0 ? parentProxyGate : exchange.run.parentProxy?.gate
        wish = exchange.wish
        routesNumber = exchange.routesNumber
        lane = exchange.order.lane
        priority = exchange.order.priority
    }
}

extension Verdict.Parking {
    /// The parking of an entry that waits for nothing but the gate of its origin.
    static let atGate = Verdict.Parking(delay: .zero, shutsGate: false, rule: .gate)
}

extension UpstreamRequest {
    /// Whether a server that answers in the origin's place would learn something: a body, or credentials.
    var isExposed: Bool {
        guard purpose != .dial, origin.scheme == .http else { return false }
        return framing != .none || carriesCredentials
    }

    /// The preconditions of a PUT, as text that is equal for equal conditions (RFC 9110 section 13.1). Nil: the request is no PUT, or
    /// has no preconditions.
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
