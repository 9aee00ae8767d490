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
                var row = row
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
                var row = row
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
            var row = row
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
