import Foundation
import GRDB
import LayoverCore
import LayoverEngine
import NIOCore

extension CacheURL {
    /// The condition for the rows of a URL.
    static let condition = "host = ? AND target = ? AND port = ? AND scheme = ?"

    /// The values of `condition`.
    var arguments: StatementArguments { [origin.host, target, origin.port, origin.scheme.rawValue] }
}

/// Finds the kept responses for a request (RFC 9111 sections 4 and 4.1).
enum RowSelection {
    /// All responses of a URL, the one that the origin made last first.
    static func rows(of url: CacheURL, in database: Database) throws -> [CacheRow] {
        try Row.fetchAll(
            database,
            sql: """
                SELECT sequence, \(CacheRow.columns) FROM answer
                WHERE \(CacheURL.condition) ORDER BY made_at DESC, sequence DESC
                """,
            arguments: url.arguments
        ).compactMap { CacheRow($0) }
    }

    /// The one to give: the newest that matches.
    static func best(
        of url: CacheURL, for asked: RequestFacts, _ digest: KeyedDigest, in database: Database
    ) throws -> CacheRow? {
        try rows(of: url, in: database).first { try matches($0, asked, digest) }
    }

    /// Whether the row was made for such a request. A response to GET serves HEAD too, never the other way round.
    static func matches(_ row: CacheRow, _ asked: RequestFacts, _ digest: KeyedDigest) throws -> Bool {
        guard row.method == "GET" || asked.isHead else { return false }
        if !row.isForEveryone, try row.credentials != Credentials.canonical(of: asked).map({ try digest($0) }) {
            return false
        }
        return try row.varyDigest == digest(VarySelection(names: row.varyNames).canonical(of: asked))
    }
}

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

/// Statements that remove rows. Each says what they leave behind.
enum RowRemoval {
    static func of(_ sequences: [Int64], in database: Database) throws -> [RemovedRow] {
        try sequences.flatMap { try delete("sequence = ?", [$0], in: database) }
    }

    /// - Parameter requestedUntil: Seconds since 1970: what was asked for later stays.
    static func of(_ url: CacheURL, requestedUntil: Int, in database: Database) throws -> [RemovedRow] {
        try delete("\(CacheURL.condition) AND requested_at <= ?", url.arguments + [requestedUntil], in: database)
    }

    /// Removes the rows that a new response replaces: those of the same variant. A response to HEAD replaces only responses to HEAD.
    static func replaced(by row: CacheRow, in database: Database) throws -> [RemovedRow] {
        let variant: StatementArguments = [
            row.credentials.map { Data($0) }, row.varyNames.joined(separator: ","), Data(row.varyDigest), row.method, row.method,
        ]
        return try delete(
            """
            \(CacheURL.condition) AND credentials IS ? AND vary_names = ? AND vary_digest = ? \
            AND (method = ? OR ? = 'GET')
            """, row.url.arguments + variant, in: database)
    }

    /// The oldest variants of a URL, as far as there are too many.
    static func variants(of url: CacheURL, beyond count: Int, in database: Database) throws -> [RemovedRow] {
        try delete(
            """
            sequence IN (SELECT sequence FROM answer WHERE \(CacheURL.condition)
                         ORDER BY sequence DESC LIMIT -1 OFFSET ?)
            """, url.arguments + [count], in: database)
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
