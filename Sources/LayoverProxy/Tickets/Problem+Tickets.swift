import LayoverCore
import LayoverEngine
import LayoverReplay

/// The problems of tickets.
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
                status: 507, kind: "store", detail: Self.sentence(failure), error: .proxyInternalError, retryAfter: .seconds(10))
            entry = id
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
            error: .proxyInternalError, retryAfter: .seconds(10))
    }

    /// The store could not be searched for a ticket with the key of the request, as long as its client waited.
    static func keyUnknown(_ failure: StoreFailure) -> Problem {
        Problem(
            status: 503, kind: "store",
            detail: "It is not known whether a request with this Idempotency-Key was accepted before, because the store cannot be "
                + "read. This one was not sent. \(failure.message)",
            error: .proxyInternalError, evidence: .neverSent, retryAfter: .seconds(10))
    }

    /// The problem of a request whose body could not be kept.
    init(notStored failure: SpoolFailure?) {
        let reason = failure.map { " \($0)" } ?? ""
        var kind = "limit"
        if case .system = failure { kind = "store" }
        self.init(
            status: 507, kind: kind, detail: "The request was not accepted: its body could not be stored.\(reason)",
            error: .proxyInternalError, retryAfter: .seconds(10))
    }

    private static func sentence(_ failure: StoreFailure) -> String {
        switch failure.kind {
        case .full: "The request was not accepted: the disk of the store (store.path) is full."
        case .readOnly: "The request was not accepted: the file system of the store (store.path) is read-only."
        case _ where !failure.mayBeStored:
            "The request was not accepted: the store failed (\(failure.kind.rawValue))."
        default:
            """
            It is not known whether the request was accepted, because the store failed (\(failure.kind.rawValue)). \
            The ticket of this entry tells whether it was.
            """
        }
    }

    // MARK: Tokens

    /// The captured body cannot be read back, so its tokens are unknown.
    static let bodyUnreadable = Problem(
        status: 507, kind: "store", detail: "The request was not accepted: its body could not be read from the spool.",
        error: .proxyInternalError)

    init(_ error: TokenError) {
        self.init(
            status: error.code == .limit ? 413 : 400, kind: "token", detail: error.description,
            error: .httpRequestError)
    }

    // MARK: The resource of a ticket

    init(reading failure: StoreFailure) {
        self.init(
            status: 503, kind: "store", detail: "The store could not be read (\(failure.kind.rawValue)).",
            error: .proxyInternalError, retryAfter: .seconds(5))
    }

    /// A ticket was dropped, but only in memory so far.
    init(notSaved failure: StoreFailure) {
        self.init(
            status: 507, kind: "store",
            detail: "The ticket is dropped, but that is not saved to disk yet; saving is retried. A crash before that undoes it. "
                + failure.message,
            error: .proxyInternalError, retryAfter: .seconds(5))
    }

    /// Why a ticket has no response to show.
    init(noResponseOf view: TicketView, isSaved: Bool, isBodyLost: Bool, seconds: Int) {
        let state = view.record.state
        if isBodyLost, view.record.responseBrokeOff {
            self.init(
                status: 502, kind: "answer_broke_off",
                detail: "The origin answered with status \(view.record.status ?? 0), but its response was cut off.",
                error: .httpResponseIncomplete)
        } else if isBodyLost {
            self = .responseNotKept
        } else if !state.isFinal {
            self.init(
                status: 409, kind: "pending", detail: "The ticket is \(state.rawValue) and has no response yet.",
                error: .destinationUnavailable, retryAfter: .seconds(seconds))
        } else if state == .delivered, !isSaved {
            self.init(
                status: 409, kind: "pending",
                detail: view.record.settledBy == nil
                    ? "The response has arrived but is not stored yet." : "The end of the ticket is not stored yet.",
                error: .proxyInternalError, retryAfter: .seconds(seconds))
        } else if view.record.settledBy != nil {
            self.init(
                status: 410, kind: "settled",
                detail: "A person settled the ticket: the server has processed the request, and its response is not known.",
                error: .proxyInternalResponse)
        } else if view.record.supersededBy != nil {
            // Not which one: its id is the key to a ticket whose client may be another.
            self.init(
                status: 410, kind: "superseded",
                detail: "A newer request to the same URL replaced this one.",
                error: .destinationUnavailable)
        } else {
            self.init(
                status: 410, kind: state.rawValue, detail: "The ticket is \(state.rawValue) and has no response.",
                error: .destinationUnavailable)
        }
        entry = view.record.id
        phase = view.record.lastFailure?.phase
        evidence = view.record.lastFailure?.evidence
        recall(view.record.counts)
    }
}
