import GRDB
import LayoverCore

/// Finds the kept responses for a request (RFC 9111 sections 4 and 4.1).
enum RowSelection {
    /// All responses of a URL, the one that the origin made last first.
    static func rows(of url: CacheURL, in database: Database) throws -> [CacheRow] {
        try Row.fetchAll(
            database,
            sql: """
                SELECT sequence, \(CacheRow.columns) FROM answer
                WHERE host = ? AND target = ? AND port = ? AND scheme = ? ORDER BY made_at DESC, sequence DESC
                """,
            arguments: [url.origin.host, url.target, url.origin.port, url.origin.scheme.rawValue]
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
