import Foundation
import GRDB
import LayoverEngine
import NIOCore

/// Statements that change rows.
enum RowUpdate {
    static func renew(_ row: CacheRow, in database: Database) throws {
        try database.execute(
            sql: """
                UPDATE answer SET head = ?, requested_at = ?, answered_at = ?, initial_age = ?, made_at = ?,
                    fresh_until = ?, used_at = ?, byte_count = ? WHERE sequence = ?
                """,
            arguments: [
                Data(row.head.readableBytesView), row.times.requestedAt, row.times.answeredAt, row.initialAge,
                row.date, row.freshUntil, row.usedAt, row.byteCount, row.sequence,
            ])
    }

    static func used(_ sequence: Int64, at now: Int, in database: Database) throws {
        try database.execute(
            sql: "UPDATE answer SET used_at = ? WHERE sequence = ? AND used_at < ?", arguments: [now, sequence, now])
    }
}
