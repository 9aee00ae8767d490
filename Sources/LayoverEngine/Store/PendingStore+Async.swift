package import LayoverCore

extension PendingStore {
    package func record(of id: EntryID) async throws(StoreFailure) -> TicketRecord? {
        try await records(of: [id]).first
    }

    package func records(of ids: [EntryID]) async throws(StoreFailure) -> [TicketRecord] {
        try await withCheckedContinuation { continuation in
            records(of: ids) { continuation.resume(returning: $0) }
        }.get()
    }

    package func ended(_ query: PendingQuery, naming: EntryNaming) async throws(StoreFailure) -> [ListedPlace] {
        try await withCheckedContinuation { continuation in
            ended(query, naming: naming) { continuation.resume(returning: $0) }
        }.get()
    }

    package func request(of id: EntryID) async throws(StoreFailure) -> StoredRequest? {
        try await withCheckedContinuation { continuation in
            request(of: id) { continuation.resume(returning: $0) }
        }.get()
    }

    package func response(of id: EntryID) async throws(StoreFailure) -> StoredResponse? {
        try await withCheckedContinuation { continuation in
            response(of: id) { continuation.resume(returning: $0) }
        }.get()
    }

    package func ticket(ofKey key: [UInt8]) async throws(StoreFailure) -> MarkedTicket? {
        try await withCheckedContinuation { continuation in
            ticket(ofKey: key) { continuation.resume(returning: $0) }
        }.get()
    }

    package func ids() async throws(StoreFailure) -> [EntryID] {
        try await withCheckedContinuation { continuation in
            ids { continuation.resume(returning: $0) }
        }.get()
    }

    package func removeEnded(before: Timestamp, limit: Int) async throws(StoreFailure) -> Int {
        try await withCheckedContinuation { continuation in
            removeEnded(before: before, limit: limit) { continuation.resume(returning: $0) }
        }.get()
    }

    package func commit(_ changes: [StoreChange]) async throws(StoreFailure) -> [StoreResult] {
        try await withCheckedContinuation { continuation in
            commit(changes) { continuation.resume(returning: $0) }
        }.get()
    }
}
