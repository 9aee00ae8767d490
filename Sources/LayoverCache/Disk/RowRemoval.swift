import Foundation
import GRDB
import LayoverCore
import LayoverEngine

/// Statements that remove rows. Each says what they leave behind.
enum RowRemoval {
    static func of(_ sequences: [Int64], in database: Database) throws -> [RemovedRow] {
        try sequences.flatMap { try delete("sequence = ?", [$0], in: database) }
    }

    /// - Parameter requestedUntil: Seconds since 1970: what was asked for later stays.
    static func of(_ url: CacheURL, requestedUntil: Int, in database: Database) throws -> [RemovedRow] {
        try delete(
            "host = ? AND target = ? AND port = ? AND scheme = ? AND requested_at <= ?",
            [url.origin.host, url.target, url.origin.port, url.origin.scheme.rawValue, requestedUntil], in: database)
    }

    /// Removes the rows that a new response replaces: those of the same variant. A response to HEAD replaces only responses to HEAD.
    static func replaced(by row: CacheRow, in database: Database) throws -> [RemovedRow] {
        try delete(
            """
            host = ? AND target = ? AND port = ? AND scheme = ? AND credentials IS ? AND vary_names = ? \
            AND vary_digest = ? AND (method = ? OR ? = 'GET')
            """,
            [
                row.url.origin.host, row.url.target, row.url.origin.port, row.url.origin.scheme.rawValue,
                row.credentials.map { Data($0) }, row.varyNames.joined(separator: ","), Data(row.varyDigest),
                row.method, row.method,
            ], in: database)
    }

    /// The oldest variants of a URL, as far as there are too many.
    static func variants(of url: CacheURL, beyond count: Int, in database: Database) throws -> [RemovedRow] {
        try delete(
            """
            sequence IN (SELECT sequence FROM answer WHERE host = ? AND target = ? AND port = ? AND scheme = ?
                         ORDER BY sequence DESC LIMIT -1 OFFSET ?)
            """,
            [url.origin.host, url.target, url.origin.port, url.origin.scheme.rawValue, count], in: database)
    }

    static func leastRecentlyUsed(count: Int, in database: Database) throws -> [RemovedRow] {
        try delete("sequence IN (SELECT sequence FROM answer ORDER BY used_at LIMIT ?)", [count], in: database)
    }

    static func older(than time: Int, count: Int, in database: Database) throws -> [RemovedRow] {
        try delete(
            "sequence IN (SELECT sequence FROM answer WHERE answered_at < ? ORDER BY answered_at LIMIT ?)",
            [time, count], in: database)
    }

    /// Some of what is selected.
    static func some(of condition: String, _ arguments: StatementArguments, count: Int, in database: Database) throws
        -> [RemovedRow]
    {
        try delete(
            "sequence IN (SELECT sequence FROM answer WHERE \(condition) LIMIT ?)", arguments + [count], in: database)
    }

    private static func delete(
        _ condition: String, _ arguments: StatementArguments, in database: Database
    ) throws -> [RemovedRow] {
        try Row.fetchAll(
            database, sql: "DELETE FROM answer WHERE \(condition) RETURNING file, byte_count", arguments: arguments
        ).map { row in
            RemovedRow(
                file: String.fromDatabaseValue(row[0] as DatabaseValue),
                byteCount: Int.fromDatabaseValue(row[1] as DatabaseValue) ?? 0)
        }
    }
}
