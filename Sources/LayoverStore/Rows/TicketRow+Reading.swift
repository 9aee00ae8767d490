import LayoverCore

extension TicketRow {
    /// Reads a row that was selected with `selection`.
    static func read(_ row: inout RowReader) throws(StoreError) -> TicketRecord {
        let sequence = row.int()
        guard sequence > 0, sequence <= RowReader.countMax else { throw .malformedRow("ticket", sequence) }
        do { return try read(&row, sequence) } catch { throw .malformedRow("ticket", sequence) }
    }

    private static func read(_ row: inout RowReader, _ sequence: Int) throws(StoreError) -> TicketRecord {
        // In the order of the columns.
        let (id, revision) = (try row.id(), try row.count())
        let (state, why): (EntryState, UndecidedReason?) = (try row.name(), try row.optionalName())
        let (method, url, origin, route) = (row.text(), row.text(), try row.origin(), row.optionalText())
        let wish = PolicyWish(name: row.optionalText(), mode: try row.optionalName())
        let (policy, priority, lane) = (row.text(), min(max(0, row.int()), 7), row.optionalText())
        let parents = try ids(row.bytes())
        let client = Entry.Client(address: row.text(), isConnected: row.bool(), userAgent: row.optionalText())
        let counts = AttemptCounts(all: try row.count(), automatic: try row.count(), mayHaveBeenApplied: row.bool())
        let (isRepeatable, hasIdempotencyKey, isExposed, isHeldBack) = (row.bool(), row.bool(), row.bool(), row.bool())
        let (requestByteCount, createdAt) = (try row.count(), row.time())
        var standing = RequestStanding(
            client: client, route: route, priority: priority, lane: lane, requestByteCount: requestByteCount,
            parkedAt: row.time(), dueAt: row.time(), expiresAt: row.time())
        var ticket = TicketFacts(wish: wish, parents: parents, notAfter: row.optionalTime())
        standing.endedAt = row.optionalTime()
        let unmeasured = row.unmeasured(since: standing.endedAt)
        standing.revision = revision
        standing.counts = counts
        standing.isHeldBack = isHeldBack
        standing.lastFailure = try failure(row.bytes())
        standing.lastFailureAt = row.optionalTime()
        // Only for people: a ticket without its timeline is better than none.
        let attempts = row.bytes()
        do { standing.attempts = try AttemptLogBytes.decode(attempts) } catch { standing.attempts = AttemptLog() }
        ticket.status = row.optionalInt()
        let request = RequestDescription(
            id: id, method: method, url: url, origin: origin, createdAt: createdAt, hasIdempotencyKey: hasIdempotencyKey,
            isExposed: isExposed, preconditions: row.optionalText())
        standing.supersededBy = try ids(row.bytes()).first
        standing.isForced = row.bool()
        let isAskedFor = row.bool()
        standing.hasOwnDeadline = row.bool()
        standing.hasOwnPriority = row.bool()
        var record = TicketRecord(
            request, standing, ticket, sequence: sequence, state: state, why: why, policy: policy, isRepeatable: isRepeatable)
        record.unmeasured = unmeasured
        record.isAskedFor = isAskedFor
        record.excusedParents = try ids(row.bytes())
        record.lastCommand = command(row.bytes())
        record.settledBy = try settlement(row.bytes())
        record.ticket.baseURL = row.optionalInt().flatMap(BaseURLForm.init)
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

    /// Only for people: a ticket without its last command is better than none.
    private static func command(_ bytes: UnsafeRawBufferPointer) -> CommandRecord? {
        var reader = ByteReader(bytes)
        return try? reader.readCommand()
    }

    private static func settlement(_ bytes: UnsafeRawBufferPointer) throws(StoreError) -> Settlement? {
        guard !bytes.isEmpty else { return nil }
        var reader = ByteReader(bytes)
        do { return try reader.readSettlement() } catch { throw .malformedRow }
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
