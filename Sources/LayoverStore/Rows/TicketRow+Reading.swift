import LayoverCore

extension TicketRow {
    /// Reads a row that was selected with `selection`.
    static func read(_ row: inout RowReader) throws(StoreError) -> TicketRecord {
        let sequence = row.int()
        var record = TicketRecord(
            id: try row.id(), sequence: sequence, revision: row.int(), state: try row.name(),
            why: try row.optionalName(), method: row.text(), url: row.text(), origin: try row.origin(),
            route: row.optionalText(),
            wish: PolicyWish(name: row.optionalText(), mode: try row.optionalName()),
            policy: row.text(), priority: row.int(), lane: row.optionalText(), parents: try ids(row.bytes()),
            client: Entry.Client(address: row.text(), isConnected: row.bool(), userAgent: row.optionalText()),
            counts: AttemptCounts(all: row.int(), automatic: row.int(), mayHaveBeenApplied: row.bool()),
            isRepeatable: row.bool(), hasIdempotencyKey: row.bool(), isExposed: row.bool(), isHeldBack: row.bool(),
            requestByteCount: row.int(), createdAt: row.time(), parkedAt: row.time(), dueAt: row.time(),
            expiresAt: row.time(), notAfter: row.optionalTime(), endedAt: row.optionalTime())
        record.lastFailure = try failure(row.bytes())
        record.lastFailureAt = row.optionalTime()
        do { record.attempts = try AttemptLogBytes.decode(row.bytes()) } catch { throw .malformedRow }
        record.status = row.optionalInt()
        record.preconditions = row.optionalText()
        record.supersededBy = try ids(row.bytes()).first
        return record
    }

    private static func ids(_ bytes: UnsafeRawBufferPointer) throws(StoreError) -> [EntryID] {
        var ids: [EntryID] = []
        for start in stride(from: 0, to: bytes.count, by: EntryID.byteCount) {
            let end = min(start + EntryID.byteCount, bytes.count)
            guard let id = EntryID(bytes: UnsafeRawBufferPointer(rebasing: bytes[start..<end])) else {
                throw .malformedRow
            }
            ids.append(id)
        }
        return ids
    }

    private static func failure(_ bytes: UnsafeRawBufferPointer) throws(StoreError) -> Failure? {
        guard !bytes.isEmpty else { return nil }
        var reader = ByteReader(bytes)
        do { return try reader.readFailure() } catch { throw .malformedRow }
    }
}
