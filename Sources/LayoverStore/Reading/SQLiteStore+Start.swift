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
                    var row = row
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
