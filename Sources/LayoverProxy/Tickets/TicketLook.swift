import LayoverCore
import LayoverEngine

/// Looks how a ticket stands, and for its response.
struct TicketLook: Sendable {
    enum Result: Sendable {
        case unknown
        case failed(StoreFailure)
        case found(TicketView, StoredResponse?, isSaved: Bool)
    }

    let engine: Engine
    let id: EntryID

    func look() async -> Result {
        do throws(StoreFailure) {
            guard let view = try await engine.ticket(id) else { return .unknown }
            // The ticket's end may be on its way to the disk, and then so is its response.
            let isSaved =
                view.record.state.isFinal ? await engine.waitUntilSaved(id) : await engine.isSaved(id)
            var response: StoredResponse?
            if view.record.state == .delivered, isSaved { response = try await engine.store?.response(of: id) }
            return .found(view, response, isSaved: isSaved)
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
        var document = TicketDocument(id: id, view: nil, wallNanoseconds: wall)
        if case .found(let view, let stored, _) = result {
            document.view = view
            document.response = stored
        }
        return document
    }
}
