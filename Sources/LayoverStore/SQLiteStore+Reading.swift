import Dispatch
import GRDB
package import LayoverCore
package import LayoverEngine

extension SQLiteStore {
    package func records(
        of ids: [EntryID], done: @escaping @Sendable (Result<[TicketRecord], StoreFailure>) -> Void
    ) {
        read(done) { db throws(StoreError) in
            var records: [TicketRecord] = []
            for id in ids {
                let record = try self.row(Self.recordOfID, of: id, db) { row throws(StoreError) in try TicketRow.read(&row) }
                if let record { records.append(record) }
            }
            return records
        }
    }

    /// One at a time: a long list leaves the other readers to requests and responses.
    package func ended(
        _ query: PendingQuery, naming: EntryNaming, done: @escaping @Sendable (Result<[ListedPlace], StoreFailure>) -> Void
    ) {
        lists.async { [pool, folder] in
            do {
                let places = try pool.read { db in
                    let matcher = EntryMatcher(query.filter, naming)
                    var selection = PageSelection(query, naming)
                    let list = EndedList(query)
                    var rows = StatementBinder(try self.statement(list.statement, db))
                    list.bind(to: &rows)
                    try rows.runWhile { row in
                        let row = EndedRow(row, of: list)
                        if matcher.matches(row) { selection.add(row) }
                        return !list.isInOrder || !selection.isFull
                    }
                    return selection.places()
                }
                done(.success(places))
            } catch {
                done(.failure(Self.failure(of: error, in: folder)))
            }
        }
    }

    package func request(
        of id: EntryID, done: @escaping @Sendable (Result<StoredRequest?, StoreFailure>) -> Void
    ) {
        read(done) { [sealing] db throws(StoreError) in
            try self.row(RequestRow.selection, of: id, db) { row throws(StoreError) in
                try RequestRow.read(&row, of: id, sealing: sealing)
            }
        }
    }

    package func response(
        of id: EntryID, done: @escaping @Sendable (Result<StoredResponse?, StoreFailure>) -> Void
    ) {
        read(done) { [sealing] db throws(StoreError) in
            try self.row(ResponseRow.selection, of: id, db) { row throws(StoreError) in
                try ResponseRow.read(&row, of: id, sealing: sealing)
            }
        }
    }

    package func ticket(
        ofKey key: [UInt8], done: @escaping @Sendable (Result<MarkedTicket?, StoreFailure>) -> Void
    ) {
        read(done) { db throws(StoreError) in
            var found: MarkedTicket?
            var query = StatementBinder(try self.statement(Self.ticketOfKey, db))
            query.bind(key)
            try query.run { (row) throws(StoreError) in
                found = MarkedTicket(id: try row.id(), payload: Array(row.bytes()))
            }
            return found
        }
    }

    package func ids(done: @escaping @Sendable (Result<[EntryID], StoreFailure>) -> Void) {
        read(done) { db throws(StoreError) in
            var found: [EntryID] = []
            let query = StatementBinder(try self.statement(Self.allIDs, db))
            try query.run { (row) throws(StoreError) in
                found.append(try row.id())
            }
            return found
        }
    }

    /// The index of ids has all that is asked for, so no row is read.
    static let allIDs = "SELECT id FROM ticket"

    static let ticketOfKey = "SELECT id, payloadDigest FROM ticket WHERE keyDigest = ?"

    private static let recordOfID = TicketRow.selection("WHERE id = ?")

    private func row<Value>(
        _ sql: String, of id: EntryID, _ db: Database, _ read: (inout RowReader) throws(StoreError) -> Value
    ) throws(StoreError) -> Value? {
        var value: Value?
        var query = StatementBinder(try statement(sql, db))
        query.bind(id)
        try query.run { (row) throws(StoreError) in
            value = try read(&row)
        }
        return value
    }

    private func statement(_ sql: String, _ db: Database) throws(StoreError) -> Statement {
        do { return try db.cachedStatement(sql: sql) } catch { throw StoreError(error) }
    }

    /// Runs on one of the pool's readers.
    private func read<Value>(
        _ done: @escaping @Sendable (Result<Value, StoreFailure>) -> Void,
        _ body: @escaping @Sendable (Database) throws(StoreError) -> Value
    ) {
        pool.asyncRead { [folder] access in
            do {
                let db = try access.get()
                done(.success(try body(db)))
            } catch {
                done(.failure(Self.failure(of: error, in: folder)))
            }
        }
    }

    static func failure(of error: any Error, in folder: String) -> StoreFailure {
        let error = StoreError(error)
        return error.isOfClosedConnection ? StoreHealth.closed : error.failure(in: folder)
    }
}

extension SQLiteStore {
    /// Records that are handed out at once: enough to make the hand-over cheap, few enough to stay small.
    private static let portion = 1_024

    private static let allLive = TicketRow.selection("WHERE endedAt IS NULL ORDER BY sequence")

    package func readLive(_ take: ([TicketRecord]) -> Void) throws(StoreFailure) {
        try blocking { db in
            var records: [TicketRecord] = []
            records.reserveCapacity(Self.portion)
            try StatementBinder(try db.makeStatement(sql: Self.allLive)).run { (row) throws(StoreError) in
                records.append(try TicketRow.read(&row))
                if records.count == Self.portion {
                    take(records)
                    records.removeAll(keepingCapacity: true)
                }
            }
            if !records.isEmpty { take(records) }
        }
    }

    package func lastSequence() throws(StoreFailure) -> Int {
        try blocking { db in
            let last = try Int.fetchOne(
                db, sql: "SELECT max(lastSequence, (SELECT ifnull(max(sequence), 0) FROM ticket)) FROM facts") ?? 0
            // There would be no number for the next ticket.
            guard last >= 0, last <= RowReader.countMax else { throw StoreError.malformedRow("ticket", last) }
            return last
        }
    }

    package func endStates(of ids: [EntryID]) throws(StoreFailure) -> [EntryID: EntryState] {
        try blocking { db in
            var states: [EntryID: EntryState] = [:]
            let statement = try db.cachedStatement(
                sql: "SELECT state FROM ticket WHERE id = ? AND endedAt IS NOT NULL")
            for id in ids {
                var query = StatementBinder(statement)
                query.bind(id)
                try query.run { (row) throws(StoreError) in
                    states[id] = try row.name(EntryState.self)
                }
            }
            return states
        }
    }

    package func clock(
        bootID: String, proposal: Int64, now: Timestamp
    ) throws(StoreFailure) -> TicketClock {
        do {
            return try pool.write { db in try Self.clock(bootID, proposal, now, db) }
        } catch { throw Self.failure(of: error, in: folder) }
    }

    private static func clock(
        _ bootID: String, _ proposal: Int64, _ now: Timestamp, _ db: Database
    ) throws -> TicketClock {
        guard let facts = try Row.fetchOne(
            db,
            sql: """
                SELECT bootID, clockOffset, unmeasured, ifnull(seenAt, (
                    SELECT max(max(createdAt, ifnull(endedAt, createdAt), ifnull(lastFailureAt, createdAt))) FROM ticket))
                FROM facts
                """)
        else { throw StoreError.malformedRow }
        let (knownBoot, offset, seen) = (facts[0] as String?, facts[1] as Int64?, facts[3] as Int64?)
        var clock = TicketClock(offset: offset ?? proposal, unmeasured: facts[2])
        if knownBoot != bootID || offset == nil {
            let date = Timestamp(nanoseconds: now.nanoseconds &+ proposal)
            clock = clock.next(offset: proposal, now: date, seen: seen.map(Timestamp.init(nanoseconds:)))
        }
        try db.execute(
            sql: "UPDATE facts SET bootID = ?, clockOffset = ?, unmeasured = ?, seenAt = ?",
            arguments: [bootID, clock.offset, clock.unmeasured, now.nanoseconds &+ clock.offset])
        return clock
    }

    private func blocking<Value>(_ body: (Database) throws -> Value) throws(StoreFailure) -> Value {
        do { return try pool.read(body) } catch {
            let failure = Self.failure(of: error, in: folder)
            guard failure.kind == .corrupt else { throw failure }
            throw StoreInspection.damaged(path, StoreError(error).text)
        }
    }
}
