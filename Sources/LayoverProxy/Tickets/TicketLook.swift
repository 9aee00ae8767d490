import LayoverCore
import LayoverEngine

/// Looks how a ticket stands, and for its response.
struct TicketLook: Sendable {
    enum Result: Sendable {
        case unknown
        case failed(StoreFailure)
        case found(TicketStanding, StoredResponse?, isSaved: Bool)
    }

    let engine: Engine
    let id: EntryID

    func look() async -> Result {
        do throws(StoreFailure) {
            guard let standing = try await engine.ticket(id) else { return .unknown }
            // The ticket's end may be on its way to the disk, and then so is its response.
            let isSaved =
                standing.record.state.isFinal ? await engine.waitUntilSaved(id) : await engine.isSaved(id)
            var response: StoredResponse?
            if standing.record.state == .delivered, isSaved { response = try await engine.store?.response(of: id) }
            return .found(standing, response, isSaved: isSaved)
        } catch {
            return .failed(error)
        }
    }
}

extension TicketDocument {
    /// Of a ticket that was accepted before, and may have come far since.
    static func acceptedBefore(
        _ id: EntryID, _ result: TicketLook.Result, wall: @escaping (Timestamp) -> Int64
    ) -> TicketDocument {
        var document = TicketDocument(id: id, standing: nil, wallNanoseconds: wall)
        if case .found(let standing, let stored, _) = result {
            document.standing = standing
            document.response = stored
        }
        return document
    }
}

extension Problem {
    init(reading failure: StoreFailure) {
        self.init(
            status: 503, kind: "store", detail: "The store could not be read (\(failure.kind.rawValue)).",
            error: .proxyInternalError)
        retryAfter = .seconds(5)
    }

    /// A ticket was dropped, but only in memory so far.
    init(notSaved failure: StoreFailure) {
        self.init(
            status: 507, kind: "store",
            detail: "The ticket is dropped, but that is not saved to disk yet; saving is retried. A crash before that undoes it. "
                + failure.message,
            error: .proxyInternalError)
        retryAfter = .seconds(5)
    }

    /// Why a ticket has no response to show.
    init(noResponseOf standing: TicketStanding, isSaved: Bool, isBodyLost: Bool, seconds: Int) {
        let state = standing.record.state
        if isBodyLost, standing.record.responseBrokeOff {
            self.init(
                status: 502, kind: "answer_broke_off",
                detail: "The origin answered with status \(standing.record.status ?? 0), but its response was cut off.",
                error: .httpResponseIncomplete)
        } else if isBodyLost {
            self = .responseNotKept
        } else if !state.isFinal {
            self.init(
                status: 409, kind: "pending", detail: "The ticket is \(state.rawValue) and has no response yet.",
                error: .destinationUnavailable)
            retryAfter = .seconds(seconds)
        } else if state == .delivered, !isSaved {
            self.init(
                status: 409, kind: "pending",
                detail: standing.record.settledBy == nil
                    ? "The response has arrived but is not stored yet." : "The end of the ticket is not stored yet.",
                error: .proxyInternalError)
            retryAfter = .seconds(seconds)
        } else if standing.record.settledBy != nil {
            self.init(
                status: 410, kind: "settled",
                detail: "A person settled the ticket: the server has processed the request, and its response is not known.",
                error: .proxyInternalResponse)
        } else if standing.record.supersededBy != nil {
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
        entry = standing.record.id
        phase = standing.record.lastFailure?.phase
        evidence = standing.record.lastFailure?.evidence
        recall(standing.record.counts)
    }
}
