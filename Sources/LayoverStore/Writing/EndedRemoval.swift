import GRDB
import LayoverCore

/// Removes the oldest final tickets.
enum EndedRemoval {
    struct Removal {
        var count = 0
        /// Bodies of answers that nobody needs any more.
        var files: [SpoolFolder.Released] = []
    }

    static func remove(before time: Timestamp, limit: Int, _ db: Database) throws -> Removal {
        var removal = Removal()
        var sequences: [Int] = []
        var query = StatementBinder(
            try db.cachedStatement(
                sql: """
                    SELECT ticket.sequence, answer.bodyFile, answer.bodyByteCount
                    FROM ticket LEFT JOIN answer USING (sequence)
                    WHERE endedAt < ? ORDER BY endedAt LIMIT ?
                    """))
        query.bind(time)
        query.bind(max(0, limit))
        try query.run { row in
            var row = row
            sequences.append(row.int())
            if let name = row.optionalText() { removal.files.append(.init(name: name, byteCount: row.int())) }
        }
        guard !sequences.isEmpty else { return removal }
        // A number is never used again, not even when its ticket is forgotten.
        try StatementBinder(
            try db.cachedStatement(
                sql: """
                    UPDATE facts SET lastSequence = max(lastSequence, (SELECT ifnull(max(sequence), 0) FROM ticket))
                    """)
        ).run()
        // The answer goes with its ticket (ON DELETE CASCADE).
        let deletion = try db.cachedStatement(sql: "DELETE FROM ticket WHERE sequence = ?")
        for sequence in sequences {
            var row = StatementBinder(deletion)
            row.bind(sequence)
            removal.count += try row.run()
        }
        return removal
    }
}
