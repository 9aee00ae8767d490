import LayoverCore

extension TicketRow {
    /// Reads a row that was selected with `selection`.
    static func read(_ row: inout RowReader) throws(StoreError) -> TicketRecord {
        let sequence = row.int()
        guard sequence > 0, sequence <= RowReader.countMax else { throw .malformedRow("ticket", sequence) }
        do { return try read(&row, sequence) } catch { throw .malformedRow("ticket", sequence) }
    }

    private static func read(_ row: inout RowReader, _ sequence: Int) throws(StoreError) -> TicketRecord {
        var record = TicketRecord(
            id: try row.id(), sequence: sequence, revision: try row.count(), state: try row.name(),
            why: try row.optionalName(), method: row.text(), url: row.text(), origin: try row.origin(),
            route: row.optionalText(),
            wish: PolicyWish(name: row.optionalText(), mode: try row.optionalName()),
            policy: row.text(), priority: min(max(0, row.int()), 7), lane: row.optionalText(), parents: try ids(row.bytes()),
            client: Entry.Client(address: row.text(), isConnected: row.bool(), userAgent: row.optionalText()),
            counts: AttemptCounts(all: try row.count(), automatic: try row.count(), mayHaveBeenApplied: row.bool()),
            isRepeatable: row.bool(), hasIdempotencyKey: row.bool(), isExposed: row.bool(), isHeldBack: row.bool(),
            requestByteCount: try row.count(), createdAt: row.time(), parkedAt: row.time(), dueAt: row.time(),
            expiresAt: row.time(), notAfter: row.optionalTime(), endedAt: row.optionalTime())
        record.unmeasured = row.unmeasured(since: record.endedAt)
        record.lastFailure = try failure(row.bytes())
        record.lastFailureAt = row.optionalTime()
        // Only for people: a ticket without its timeline is better than none.
        let attempts = row.bytes()
        do { record.attempts = try AttemptLogBytes.decode(attempts) } catch { record.attempts = AttemptLog() }
        record.status = row.optionalInt()
        record.preconditions = row.optionalText()
        record.supersededBy = try ids(row.bytes()).first
        record.decisions.isForced = row.bool()
        record.decisions.isAskedFor = row.bool()
        record.decisions.hasOwnDeadline = row.bool()
        record.decisions.hasOwnPriority = row.bool()
        record.decisions.excusedParents = try ids(row.bytes())
        return record
    }

    static func ids(_ bytes: UnsafeRawBufferPointer) throws(StoreError) -> [EntryID] {
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

extension RowReader {
    /// The column `endedMeasured`, after `endedAt`.
    fileprivate mutating func unmeasured(since endedAt: Timestamp?) -> Int64 {
        guard let measured = optionalTime(), let endedAt else { return 0 }
        return endedAt.nanoseconds &- measured.nanoseconds
    }
}
