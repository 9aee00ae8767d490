import GRDB
import GRDBSQLite
import Glibc
import LayoverEngine
import LayoverSystem

/// Checks a database before anything may write to it.
enum StoreInspection {
    /// The biggest file of which every page is checked. Default: 64 MiB, a fraction of a second.
    static let thoroughByteCountMax = 64 << 20

    /// Throws if the file exists and is not an intact Layover database.
    static func inspect(_ path: String) throws(StoreFailure) {
        guard let byteCount = try checkHead(path) else { return }
        do {
            var configuration = Configuration()
            // A connection that only reads cannot copy the log into the database when it is closed.
            configuration.readonly = true
            let database = try DatabaseQueue(path: path, configuration: configuration)
            defer { try? database.close() }
            try database.read { try inspect($0, path, isThorough: byteCount <= thoroughByteCountMax) }
        } catch { throw failure(of: error, path: path) }
    }

    private static func inspect(_ db: Database, _ path: String, isThorough: Bool) throws {
        let objectCount = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") ?? 0
        if objectCount == 0 { return }
        guard try Int32.fetchOne(db, sql: "PRAGMA application_id") == StoreSchema.applicationID else {
            throw StoreFailure(
                .corrupt, "\(path) is not a Layover database. Set another store.path. The file was not changed.")
        }
        if try StoreSchema.migrator().hasBeenSuperseded(db) {
            throw StoreFailure(
                .other, "\(path) was written by a newer version of Layover. Use that version. The file was not changed.")
        }
        if isThorough, try String.fetchOne(db, sql: "PRAGMA quick_check(1)") != "ok" { throw damaged(path) }
    }

    /// The size of the file; nil if the file is missing or empty.
    private static func checkHead(_ path: String) throws(StoreFailure) -> Int? {
        var facts = stat()
        guard stat(path, &facts) == 0, facts.st_size > 0 else { return nil }
        let head = try StoreFile.head(of: path, byteCount: 16) ?? []
        guard head == Array("SQLite format 3\0".utf8) else { throw damaged(path) }
        return Int(facts.st_size)
    }

    /// - Parameter detail: The damage, if it is known.
    static func damaged(_ path: String, _ detail: String? = nil) -> StoreFailure {
        StoreFailure(
            .corrupt,
            """
            \(path) is damaged\(detail.map { ": \($0)" } ?? " or not a database"). The file was not changed. Restore a copy, or try \
            "sqlite3 \(path) .recover", or move it away together with \(path)-wal and start with an empty store.
            """)
    }

    /// The error for a store that cannot be opened. A `StoreFailure` stays as it is.
    static func failure(of error: any Error, path: String) -> StoreFailure {
        if let failure = error as? StoreFailure { return failure }
        let failure = StoreError(error).failure(in: PrivateFolder.of(path))
        if failure.kind == .corrupt { return damaged(path) }
        return StoreFailure(failure.kind, "Cannot open \(path). \(failure.message)")
    }
}
