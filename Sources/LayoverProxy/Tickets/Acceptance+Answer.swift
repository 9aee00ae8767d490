import LayoverCore
import LayoverEngine

/// What a client is told of a request that was to become a ticket.
extension OwnResponse {
    /// The ticket was accepted, now or before: where it is.
    static func accepted(
        _ id: EntryID, base: String, applied: String, document: TicketDocument
    ) -> OwnResponse {
        var fields: [(name: String, value: String)] = [
            ("Content-Type", "application/json"), ("Location", base + TicketAddress.path(of: id)),
        ]
        if !applied.isEmpty { fields.append(("Preference-Applied", applied)) }
        return OwnResponse(status: 202, fields: fields, body: document.json)
    }
}

extension Problem {
    /// Nil where it was accepted.
    init?(_ result: AcceptanceResult) {
        switch result {
        case .accepted, .duplicate, .gone:
            return nil
        case .keyReused:
            self = .keyReused
        case .refused(let limit, let value):
            self = .limit(limit, value)
        case .draining:
            self = .stopping
            retryAfter = .seconds(5)
        case .unknownParent(let id):
            self.init(
                status: 400, kind: "unknown_ticket", detail: "Layover-After names \(id), which is no ticket.",
                error: .httpRequestError)
        case .notStored(let id, let failure):
            self.init(
                status: 507, kind: "store", detail: Self.sentence(failure), error: .proxyInternalError)
            entry = id
            retryAfter = .seconds(10)
        }
    }

    static let keyReused = Problem(
        status: 422, kind: "idempotency_key_reused", detail: "This Idempotency-Key was used for another request.",
        error: .httpRequestError)

    static let answerNotKept = Problem(
        status: 507, kind: "answer_not_kept", detail: "The origin answered, but the body of its answer could not be kept.",
        error: .proxyInternalError)

    /// The store could not be opened so far.
    init(notOpen failure: StoreFailure) {
        self.init(
            status: 507, kind: "store",
            detail: "The store is not open (store.path), so the request was not accepted. \(failure.message)",
            error: .proxyInternalError)
        retryAfter = .seconds(10)
    }

    /// Its body could not be kept.
    init(notKept failure: SpoolFailure?) {
        let reason = failure.map { " \($0)" } ?? ""
        var kind = "limit"
        if case .system = failure { kind = "store" }
        self.init(
            status: 507, kind: kind, detail: "The body could not be kept, so the request was not accepted.\(reason)",
            error: .proxyInternalError)
        retryAfter = .seconds(10)
    }

    private static func sentence(_ failure: StoreFailure) -> String {
        switch failure.kind {
        case .full: "The disk of the store is full (store.path), so the request was not accepted."
        case .readOnly: "The file system of the store is read-only (store.path), so the request was not accepted."
        default:
            """
            The store could not take the request (\(failure.kind.rawValue)). It is not known to be accepted; \
            the ticket of this entry says whether it was.
            """
        }
    }
}
