import Foundation
import GRDB
import Glibc
import LayoverSystem

/// The index: an open database that is known to be ours.
struct CacheDatabase: Sendable {
    let pool: DatabasePool
    let digest: KeyedDigest

    /// Opens the index, or makes it.
    ///
    /// - Throws: An error for which `isDamaged` tells whether to throw the file away.
    init(path: String) throws {
        let file = Glibc.open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw CacheFolder.failure("open", path) }
        // SQLite gives its log files the mode of the database.
        _ = fchmod(file, 0o600)
        close(file)
        var configuration = Configuration()
        configuration.maximumReaderCount = 4
        configuration.busyMode = .timeout(2)
        // A value in a message could be a URL with a secret in it.
        configuration.publicStatementArguments = false
        configuration.prepareDatabase { database in
            // The database is only a cache: after a power cut the last responses may be forgotten.
            try database.execute(sql: "PRAGMA synchronous = NORMAL")
            // Purged responses are erased from the pages of the file too.
            try database.execute(sql: "PRAGMA secure_delete = ON")
        }
        let pool = try DatabasePool(path: path, configuration: configuration)
        do {
            digest = KeyedDigest(salt: try pool.write { try Self.prepare($0) })
        } catch {
            try? pool.close()
            throw error
        }
        self.pool = pool
    }

    /// Makes the tables, or checks them. Returns the salt.
    private static func prepare(_ database: Database) throws -> [UInt8] {
        let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        if version == 0 {
            try database.execute(sql: CacheSchema.statements)
            try database.execute(
                sql: "INSERT INTO cache (salt) VALUES (?)", arguments: [Data(RandomBytes.make(count: KeyedDigest.saltByteCount))])
            try database.execute(sql: "PRAGMA user_version = \(CacheSchema.version)")
        } else if version != CacheSchema.version {
            throw DatabaseError(resultCode: .SQLITE_NOTADB, message: "The index is of another version.")
        }
        guard try String.fetchOne(database, sql: "PRAGMA quick_check(1)") == "ok",
            let salt = try Data.fetchOne(database, sql: "SELECT salt FROM cache"),
            salt.count == KeyedDigest.saltByteCount
        else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "The index is damaged.") }
        return Array(salt)
    }

    /// Whether the file is to be thrown away. A full disk or a lack of rights is no such reason.
    static func isDamaged(_ error: any Error) -> Bool {
        guard let code = (error as? DatabaseError)?.resultCode else { return false }
        return code == .SQLITE_CORRUPT || code == .SQLITE_NOTADB
    }

    /// Whether our statements do not fit the tables. Only meant while opening.
    static func isForeign(_ error: any Error) -> Bool {
        (error as? DatabaseError)?.resultCode == .SQLITE_ERROR
    }

    static func remove(path: String) {
        for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
    }
}

/// The tables of the index. There are no migrations: an index of another version is thrown away, since it holds
/// nothing that the origins do not have.
enum CacheSchema {
    static let version = 1

    static let statements = """
        CREATE TABLE cache (salt BLOB NOT NULL CHECK (length(salt) = 32)) STRICT;
        CREATE TABLE answer (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT,
            scheme TEXT NOT NULL,
            host TEXT NOT NULL,
            port INTEGER NOT NULL,
            target TEXT NOT NULL,
            method TEXT NOT NULL CHECK (method IN ('GET', 'HEAD')),
            status INTEGER NOT NULL,
            head BLOB NOT NULL,
            stated_length INTEGER,
            credentials BLOB,
            is_for_everyone INTEGER NOT NULL,
            vary_names TEXT NOT NULL,
            vary_digest BLOB NOT NULL,
            requested_at INTEGER NOT NULL,
            answered_at INTEGER NOT NULL,
            initial_age INTEGER NOT NULL,
            made_at INTEGER NOT NULL,
            fresh_until INTEGER NOT NULL,
            used_at INTEGER NOT NULL,
            content_type TEXT,
            file TEXT UNIQUE,
            body_byte_count INTEGER NOT NULL,
            body_digest BLOB NOT NULL,
            byte_count INTEGER NOT NULL,
            CHECK ((file IS NULL) = (body_byte_count = 0))
        ) STRICT;
        CREATE INDEX answer_url ON answer (host, target, port, scheme);
        CREATE INDEX answer_use ON answer (used_at);
        CREATE INDEX answer_age ON answer (answered_at);
        """
}

/// Digests of secrets that are good for comparing only: HMAC-SHA256 (RFC 2104) under a random key that each cache
/// makes for itself, so that a list of likely secrets proves nothing about another cache.
struct KeyedDigest: Sendable {
    static let saltByteCount = 32

    private let key: SymmetricKey

    init(salt: [UInt8]) { key = SymmetricKey(salt) }

    func callAsFunction(_ bytes: [UInt8]) throws -> [UInt8] {
        try HMACSHA256.code(for: bytes, using: key)
    }
}
