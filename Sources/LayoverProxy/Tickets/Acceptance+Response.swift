import LayoverCore
import LayoverEngine

/// The response to a request that was to become a ticket.
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
    /// Nil: the ticket was accepted, or the entry of the request has ended.
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
                status: 400, kind: "unknown_ticket", detail: "Layover-After names an unknown ticket (\(id)).",
                error: .httpRequestError)
        case .notStored(let id, let failure):
            self.init(
                status: 507, kind: "store", detail: Self.sentence(failure), error: .proxyInternalError)
            entry = id
            retryAfter = .seconds(10)
        }
    }

    static let keyReused = Problem(
        status: 422, kind: "idempotency_key_reused", detail: "The Idempotency-Key was used for a different request.",
        error: .httpRequestError)

    static let responseNotKept = Problem(
        status: 507, kind: "answer_not_kept", detail: "The origin answered, but its response body could not be stored.",
        error: .proxyInternalError)

    /// The store could not be opened so far.
    init(notOpen failure: StoreFailure) {
        self.init(
            status: 507, kind: "store",
            detail: "The request was not accepted: the store (store.path) is not open. \(failure.message)",
            error: .proxyInternalError)
        retryAfter = .seconds(10)
    }

    /// The store could not be searched for a ticket with the key of the request, as long as its client waited.
    static func keyUnknown(_ failure: StoreFailure) -> Problem {
        var problem = Problem(
            status: 503, kind: "store",
            detail: "It is not known whether a request with this Idempotency-Key was accepted before, because the store cannot be "
                + "read. This one was not sent. \(failure.message)",
            error: .proxyInternalError)
        problem.evidence = .neverSent
        problem.retryAfter = .seconds(10)
        return problem
    }

    /// The problem of a request whose body could not be kept.
    init(notKept failure: SpoolFailure?) {
        let reason = failure.map { " \($0)" } ?? ""
        var kind = "limit"
        if case .system = failure { kind = "store" }
        self.init(
            status: 507, kind: kind, detail: "The request was not accepted: its body could not be stored.\(reason)",
            error: .proxyInternalError)
        retryAfter = .seconds(10)
    }

    private static func sentence(_ failure: StoreFailure) -> String {
        switch failure.kind {
        case .full: "The request was not accepted: the disk of the store (store.path) is full."
        case .readOnly: "The request was not accepted: the file system of the store (store.path) is read-only."
        case _ where !failure.mayBeKept:
            "The request was not accepted: the store failed (\(failure.kind.rawValue))."
        default:
            """
            It is not known whether the request was accepted, because the store failed (\(failure.kind.rawValue)). \
            The ticket of this entry tells whether it was.
            """
        }
    }
}
