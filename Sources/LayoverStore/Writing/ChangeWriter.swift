import GRDB
import LayoverCore
import LayoverEngine

/// Applies changes within a transaction that its caller begins and ends. Confined to the thread of the database.
final class ChangeWriter {
    /// Bodies that are no longer needed once the transaction is committed.
    private(set) var released: [SpoolFolder.Released] = []

    private let sealing: FieldSealing
    private let insertTicket: Statement
    private let updateTicket: Statement
    private let startTicket: Statement
    private let updateEvidence: Statement
    private let insertRequest: Statement
    private let deleteRequest: Statement
    private let insertResponse: Statement
    private let deleteResponse: Statement
    private let ticketOfKey: Statement
    private let forgetTicketKey: Statement
    private let endedTicket: Statement
    private let urlOfTicket: Statement
    private let noteTime: Statement
    private let rowOfFile: Statement
    private let knownTicket: Statement
    private let knownResponse: Statement

    init(_ db: Database, sealing: FieldSealing) throws {
        self.sealing = sealing
        insertTicket = try db.makeStatement(sql: TicketRow.insertion)
        updateTicket = try db.makeStatement(sql: TicketRow.update)
        startTicket = try db.makeStatement(
            sql: """
                UPDATE ticket SET state = 'attempting', revision = ?, attemptCount = ?, automaticCount = ?,
                    mayHaveBeenApplied = ?
                WHERE id = ? AND state IN ('waiting', 'attempting') AND revision <= ?
                """)
        updateEvidence = try db.makeStatement(sql: TicketRow.lateEvidence)
        insertRequest = try db.makeStatement(sql: RequestRow.insertion)
        deleteRequest = try db.makeStatement(
            sql: """
                DELETE FROM request WHERE sequence = (SELECT sequence FROM ticket WHERE id = ?)
                RETURNING bodyFile, bodyByteCount
                """)
        insertResponse = try db.makeStatement(sql: ResponseRow.insertion)
        deleteResponse = try db.makeStatement(
            sql: """
                DELETE FROM answer WHERE sequence = (SELECT sequence FROM ticket WHERE id = ?)
                RETURNING bodyFile, bodyByteCount
                """)
        ticketOfKey = try db.makeStatement(sql: SQLiteStore.ticketOfKey)
        forgetTicketKey = try db.makeStatement(sql: "UPDATE ticket SET keyDigest = NULL, payloadDigest = NULL WHERE id = ?")
        endedTicket = try db.makeStatement(sql: "SELECT 1 FROM ticket WHERE id = ? AND endedAt IS NOT NULL")
        urlOfTicket = try db.makeStatement(sql: "SELECT url FROM ticket WHERE id = ?")
        noteTime = try db.makeStatement(sql: "UPDATE facts SET seenAt = ?")
        rowOfFile = try db.makeStatement(
            sql: """
                SELECT 1 FROM request WHERE bodyFile = ?1 UNION ALL SELECT 1 FROM answer WHERE bodyFile = ?1
                """)
        knownTicket = try db.makeStatement(sql: "SELECT 1 FROM ticket WHERE id = ?")
        knownResponse = try db.makeStatement(
            sql: "SELECT 1 FROM answer WHERE sequence = (SELECT sequence FROM ticket WHERE id = ?)")
    }

    func takeReleased() -> [SpoolFolder.Released] {
        defer { released = [] }
        return released
    }

    func apply(_ change: StoreChange) throws(StoreError) -> StoreResult {
        switch change {
        case .insert(let record, let request, let mark): try insert(record, request, mark)
        case .update(let record): try update(record)
        case .started(let id, let revision, let counts): try start(id, revision, counts)
        case .lateEvidence(let record): try addLateEvidence(record)
        case .delivered(let record, let response): try deliver(record, response)
        case .dropResponse(let id): try dropResponse(of: id)
        case .forgetKey(let id): try forgetKey(id)
        case .seen(let time): try note(time)
        }
    }

    // MARK: Changes

    private func insert(
        _ record: TicketRecord, _ request: StoredRequest, _ mark: IdempotencyMark?
    ) throws(StoreError) -> StoreResult {
        if let mark, let duplicate = try duplicate(of: mark) {
            try releaseUnlessKept(request.body, of: record.id, by: knownTicket)
            return duplicate
        }
        var ticket = StatementBinder(insertTicket)
        ticket.bind(record.sequence)
        ticket.bind(record.id)
        TicketRow.bind(record, isNew: true, to: &ticket)
        if let mark {
            ticket.bind(mark.key)
            ticket.bind(mark.payload)
        } else {
            ticket.bindNull()
            ticket.bindNull()
        }
        guard try ticket.run() == 1 else {
            try releaseUnlessKept(request.body, of: record.id, by: knownTicket)
            return .stale
        }
        var row = StatementBinder(insertRequest)
        row.bind(record.sequence)
        try RequestRow.bind(request, of: record.id, sealing: sealing, to: &row)
        try row.run()
        return .done
    }

    private func duplicate(of mark: IdempotencyMark) throws(StoreError) -> StoreResult? {
        var result: StoreResult?
        var query = StatementBinder(ticketOfKey)
        query.bind(mark.key)
        try query.run { (row) throws(StoreError) in
            result = .duplicate(of: try row.id(), samePayload: row.bytes().elementsEqual(mark.payload))
        }
        return result
    }

    private func update(_ record: TicketRecord) throws(StoreError) -> StoreResult {
        let record = try withWholeURL(record)
        var row = StatementBinder(updateTicket)
        TicketRow.bind(record, isNew: false, to: &row)
        row.bind(record.id)
        row.bind(record.revision)
        guard try row.run() == 1 else { return .stale }
        if record.state.isFinal { try release(deleteRequest, of: record.id) }
        return .done
    }

    private func start(
        _ id: EntryID, _ revision: Int, _ counts: AttemptCounts
    ) throws(StoreError) -> StoreResult {
        var row = StatementBinder(startTicket)
        row.bind(revision)
        row.bind(counts.all)
        row.bind(counts.automatic)
        row.bind(counts.mayHaveBeenApplied)
        row.bind(id)
        row.bind(revision)
        return try row.run() == 1 ? .done : .stale
    }

    private func addLateEvidence(_ record: TicketRecord) throws(StoreError) -> StoreResult {
        let record = try withWholeURL(record)
        var row = StatementBinder(updateEvidence)
        TicketRow.bindLateEvidence(record, to: &row)
        row.bind(record.id)
        row.bind(record.state)
        row.bind(record.revision)
        return try row.run() == 1 ? .done : .stale
    }

    /// The record with the URL of its row: the text for searches is made of it.
    private func withWholeURL(_ record: TicketRecord) throws(StoreError) -> TicketRecord {
        guard record.request.isURLInStore else { return record }
        var whole = record
        var query = StatementBinder(urlOfTicket)
        query.bind(record.id)
        try query.run { row in
            whole.request.url = row.text()
        }
        return whole
    }

    private func deliver(_ record: TicketRecord, _ response: StoredResponse) throws(StoreError) -> StoreResult {
        guard record.state.isFinal, try update(record) == .done else {
            try releaseUnlessKept(response.body, of: record.id, by: knownResponse)
            return .stale
        }
        var row = StatementBinder(insertResponse)
        row.bind(record.id)
        try ResponseRow.bind(response, of: record.id, sealing: sealing, to: &row)
        try row.run()
        return .done
    }

    private func dropResponse(of id: EntryID) throws(StoreError) -> StoreResult {
        var isEnded = false
        var query = StatementBinder(endedTicket)
        query.bind(id)
        try query.run { _ in isEnded = true }
        guard isEnded else { return .stale }
        try release(deleteResponse, of: id)
        return .done
    }

    private func forgetKey(_ id: EntryID) throws(StoreError) -> StoreResult {
        var row = StatementBinder(forgetTicketKey)
        row.bind(id)
        return try row.run() == 1 ? .done : .stale
    }

    private func note(_ time: Timestamp) throws(StoreError) -> StoreResult {
        var row = StatementBinder(noteTime)
        row.bind(time)
        try row.run()
        return .done
    }

    // MARK: Bodies

    private func release(_ deletion: Statement, of id: EntryID) throws(StoreError) {
        var row = StatementBinder(deletion)
        row.bind(id)
        try row.run { row in
            let body = SpoolFolder.Released(name: row.optionalText(), byteCount: row.int())
            if body.takesRoom { released.append(body) }
        }
    }

    /// A change that did not apply leaves its body behind; if it was applied before, a row has the body.
    ///
    /// - Parameter known: Finds the row that proves that the change was applied before, if there is no file.
    private func releaseUnlessKept(
        _ body: StoredBody, of id: EntryID, by known: Statement
    ) throws(StoreError) {
        let left = SpoolFolder.Released(name: body.fileName, byteCount: body.byteCount)
        guard left.takesRoom else { return }
        var isKept = false
        var query: StatementBinder
        if case .file(let name, _) = body {
            query = StatementBinder(rowOfFile)
            query.bind(name)
        } else {
            query = StatementBinder(known)
            query.bind(id)
        }
        try query.run { _ in isKept = true }
        if !isKept { released.append(left) }
    }
}
