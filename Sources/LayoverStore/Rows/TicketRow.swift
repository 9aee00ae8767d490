import LayoverCore

/// A record in the columns of `ticket`.
enum TicketRow {
    /// Those that never change.
    static let fixedColumns = ["sequence", "id"]
    /// Those that an update sets, but for the URL, in the order in which they are bound and read.
    static let columns = [
        "revision", "state", "why", "method", "url", "scheme", "host", "port", "route", "wishName", "wishMode",
        "policy", "priority", "lane", "parents", "clientAddress", "clientConnected", "clientAgent", "attemptCount",
        "automaticCount", "mayHaveBeenApplied", "isRepeatable", "hasIdempotencyKey", "isExposed", "isHeldBack",
        "requestByteCount", "createdAt", "parkedAt", "dueAt", "expiresAt", "notAfter", "endedAt", "endedMeasured",
        "lastFailure", "lastFailureAt", "attempts", "status", "preconditions",
        "supersededBy", "isForced", "isAskedFor", "hasOwnDeadline", "hasOwnPriority", "excusedParents",
        "lastCommand", "settledBy", "baseURL",
    ]
    /// Columns that are computed from the others. They are set together with them, and never read into a record.
    private static let derivedColumns = ["foldedText"]
    private static let setColumns = columns + derivedColumns
    /// A record in memory may have only the beginning of the URL (`RequestDescription.isURLInStore`).
    private static let updatedColumns = setColumns.filter { $0 != "url" }

    static let insertion = """
        INSERT INTO ticket (\((fixedColumns + setColumns + ["keyDigest", "payloadDigest"]).joined(separator: ", ")))
        VALUES (\(Array(repeating: "?", count: fixedColumns.count + setColumns.count + 2).joined(separator: ", ")))
        ON CONFLICT (id) DO NOTHING
        """

    /// Guarded by the revision and by being live. A record that is `attempting` leaves a row so, and makes any
    /// other one `waiting`: `attempting` on disk means that bytes may have left, and only `started` sets it.
    static let update = """
        UPDATE ticket SET \(updatedColumns.map { $0 == "state" ? updatedState : "\($0) = ?" }.joined(separator: ", "))
        WHERE id = ? AND revision < ? AND endedAt IS NULL
        """

    private static let updatedState =
        "state = ifnull(nullif(?, 'attempting'), iif(state = 'attempting', 'attempting', 'waiting'))"

    /// The columns that a final row still takes.
    private static let lateEvidenceColumns = [
        "revision", "attemptCount", "automaticCount", "mayHaveBeenApplied", "lastFailure", "lastFailureAt", "attempts", "foldedText",
    ]

    /// Applies only to a row with a lower revision that is in the same final state. The state does not change.
    static let lateEvidence = """
        UPDATE ticket SET \(lateEvidenceColumns.map { "\($0) = ?" }.joined(separator: ", "))
        WHERE id = ? AND state = ? AND revision < ? AND endedAt IS NOT NULL
        """

    static func selection(_ condition: String) -> String {
        "SELECT \((fixedColumns + columns).joined(separator: ", ")) FROM ticket \(condition)"
    }

    /// - Parameter isNew: True for `insertion`, false for `update`.
    static func bind(_ record: TicketRecord, isNew: Bool, to binder: inout StatementBinder) {
        binder.bind(record.revision)
        binder.bind(record.state)
        binder.bind(record.why?.rawValue)
        binder.bind(record.method)
        if isNew { binder.bind(record.url) }
        binder.bind(record.origin)
        binder.bind(record.route)
        binder.bind(record.ticket.wish.name)
        binder.bind(record.ticket.wish.mode?.rawValue)
        binder.bind(record.policy)
        binder.bind(record.priority)
        binder.bind(record.lane)
        bind(record.parents, to: &binder)
        binder.bind(record.client.address)
        binder.bind(record.client.isConnected)
        binder.bind(record.client.userAgent)
        binder.bind(record.counts.all)
        binder.bind(record.counts.automatic)
        binder.bind(record.counts.mayHaveBeenApplied)
        binder.bind(record.isRepeatable)
        binder.bind(record.hasIdempotencyKey)
        binder.bind(record.isExposed)
        binder.bind(record.isHeldBack)
        binder.bind(record.requestByteCount)
        binder.bind(record.createdAt)
        binder.bind(record.parkedAt)
        binder.bind(record.dueAt)
        binder.bind(record.expiresAt)
        binder.bind(record.ticket.notAfter)
        binder.bind(record.endedAt)
        binder.bind(record.endedMeasured)
        bind(record.lastFailure, to: &binder) { $0.write($1) }
        binder.bind(record.lastFailureAt)
        bind(record.attempts, to: &binder)
        binder.bind(record.status)
        binder.bind(record.preconditions)
        if let newer = record.supersededBy { binder.bind(newer) } else { binder.bindNull() }
        binder.bind(record.isForced)
        binder.bind(record.isAskedFor)
        binder.bind(record.hasOwnDeadline)
        binder.bind(record.hasOwnPriority)
        bind(record.excusedParents, to: &binder)
        bind(record.lastCommand, to: &binder) { $0.write($1) }
        bind(record.settledBy, to: &binder) { $0.write($1) }
        binder.bind(record.ticket.baseURL?.rawValue)
        binder.bind(record.state.isFinal ? foldedText(of: record) : nil)
    }

    private static func foldedText(of record: TicketRecord) -> String {
        EntrySearch.foldedText(of: record.origin, url: record.url, failure: record.lastFailure)
    }

    static func bindLateEvidence(_ record: TicketRecord, to binder: inout StatementBinder) {
        binder.bind(record.revision)
        binder.bind(record.counts.all)
        binder.bind(record.counts.automatic)
        binder.bind(record.counts.mayHaveBeenApplied)
        bind(record.lastFailure, to: &binder) { $0.write($1) }
        binder.bind(record.lastFailureAt)
        bind(record.attempts, to: &binder)
        binder.bind(foldedText(of: record))
    }

    private static func bind(_ ids: [EntryID], to binder: inout StatementBinder) {
        if ids.isEmpty { binder.bindNull() } else { binder.bind(ids.flatMap(\.bytes)) }
    }

    private static func bind(_ attempts: AttemptLog, to binder: inout StatementBinder) {
        let bytes = AttemptLogBytes.encode(attempts)
        if bytes.isEmpty { binder.bindNull() } else { binder.bind(bytes) }
    }

    private static func bind<Value>(
        _ value: Value?, to binder: inout StatementBinder, by write: (inout ByteWriter, Value) -> Void
    ) {
        guard let value else { return binder.bindNull() }
        var writer = ByteWriter()
        write(&writer, value)
        binder.bind(writer.bytes)
    }
}

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
