import GRDB
package import LayoverCore
package import LayoverEngine

extension SQLiteStore {
    /// Records that are handed out at once: enough to make the hand-over cheap, few enough to stay small.
    private static let portion = 1_024

    private static let allLive = TicketRow.selection("WHERE endedAt IS NULL ORDER BY sequence")

    package func readLive(_ take: ([TicketRecord]) -> Void) throws(StoreFailure) {
        try blocking { db in
            var records: [TicketRecord] = []
            records.reserveCapacity(Self.portion)
            try StatementBinder(try db.makeStatement(sql: Self.allLive)).run { (row) throws(StoreError) in
                var row = row
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
            try Int.fetchOne(
                db, sql: "SELECT max(lastSequence, (SELECT ifnull(max(sequence), 0) FROM ticket)) FROM facts") ?? 0
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
                    var row = row
                    states[id] = try row.name(EntryState.self)
                }
            }
            return states
        }
    }

    package func clockOffset(bootID: String, proposal: Int64) throws(StoreFailure) -> Int64 {
        do {
            return try pool.write { db in
                let kept = try Int64.fetchOne(db, sql: "SELECT clockOffset FROM facts WHERE bootID = ?", arguments: [bootID])
                if let kept { return kept }
                try db.execute(
                    sql: "UPDATE facts SET bootID = ?, clockOffset = ?", arguments: [bootID, proposal])
                return proposal
            }
        } catch { throw Self.failure(of: error, in: folder) }
    }

    private func blocking<Value>(_ body: (Database) throws -> Value) throws(StoreFailure) -> Value {
        do { return try pool.read(body) } catch { throw Self.failure(of: error, in: folder) }
    }
}
