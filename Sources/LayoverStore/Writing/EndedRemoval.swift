import GRDB
import LayoverCore

/// Removes the oldest final tickets, except parents of live tickets: their final state and their response are still
/// needed.
enum EndedRemoval {
    struct Removal {
        var count = 0
        /// Whether no more can be removed now.
        var isComplete = true
        /// Bodies of responses that are no longer needed.
        var bodies: [SpoolFolder.Released] = []
    }

    /// Most bytes of responses in rows that one step removes: deleted pages are overwritten, and other changes wait meanwhile.
    /// Default: 1 MiB.
    static let byteCountMax = 1 << 20

    static func remove(before time: Timestamp, limit: Int, _ db: Database) throws -> Removal {
        var removal = Removal()
        var sequences: [Int] = []
        var byteCount = 0
        let wanted = try parents(db)
        var query = StatementBinder(
            try db.cachedStatement(
                sql: """
                    SELECT ticket.sequence, ticket.id, answer.bodyFile, answer.bodyByteCount
                    FROM ticket LEFT JOIN answer USING (sequence)
                    WHERE endedMeasured < ? ORDER BY endedMeasured LIMIT ?
                    """))
        query.bind(time)
        query.bind(limit > 0 ? limit + wanted.count + 1 : 0)
        try query.run { (row) throws(StoreError) in
            let sequence = row.int()
            let id = try row.id()
            guard !wanted.contains(id) else { return }
            guard sequences.count < limit, byteCount < byteCountMax else {
                removal.isComplete = false
                return
            }
            sequences.append(sequence)
            let body = SpoolFolder.Released(name: row.optionalText(), byteCount: row.int())
            if body.name == nil { byteCount += body.byteCount }
            if body.takesRoom { removal.bodies.append(body) }
        }
        guard !sequences.isEmpty else { return removal }
        // A number is never used again, not even when its ticket is forgotten.
        try StatementBinder(
            try db.cachedStatement(
                sql: """
                    UPDATE facts SET lastSequence = max(lastSequence, (SELECT ifnull(max(sequence), 0) FROM ticket))
                    """)
        ).run()
        // The response goes with its ticket (ON DELETE CASCADE).
        let deletion = try db.cachedStatement(sql: "DELETE FROM ticket WHERE sequence = ?")
        for sequence in sequences {
            var row = StatementBinder(deletion)
            row.bind(sequence)
            removal.count += try row.run()
        }
        return removal
    }

    /// All that live tickets depend on.
    private static func parents(_ db: Database) throws -> Set<EntryID> {
        var ids: Set<EntryID> = []
        let query = StatementBinder(
            try db.cachedStatement(sql: "SELECT parents FROM ticket WHERE endedAt IS NULL AND parents IS NOT NULL"))
        try query.run { (row) throws(StoreError) in
            ids.formUnion(try TicketRow.ids(row.bytes()))
        }
        return ids
    }
}
