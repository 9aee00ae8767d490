import GRDB

/// The connections of a store, set up so that an acknowledged row survives a power cut.
enum StoreConnections {
    /// Memory for pages of the connection that writes: the inner pages of the indexes of a million tickets. What is not in it
    /// is read from the kernel's page cache. Unit: KiB. Default: 4096.
    private static let writerCacheKiB = 4096
    /// Memory for pages of each connection that reads; each request and each response is read once. Unit: KiB. Default: 512.
    private static let readerCacheKiB = 512

    /// How long a call waits for another process that uses the database. Unit: seconds. Default: 2.
    private static let busyMax: Double = 2

    /// GRDB's pool sets `synchronous=NORMAL` when it turns the log on, whatever was set before, and a power cut then
    /// takes acknowledged rows. So it is set after that, and read back.
    static func open(_ path: String) throws -> DatabasePool {
        var configuration = Configuration()
        configuration.label = "layover.store"
        configuration.foreignKeysEnabled = true
        // A person may run a VACUUM or a backup meanwhile (sqlite.org/c3ref/busy_timeout.html).
        configuration.busyMode = .timeout(busyMax)
        // Three readers: one that streams at start or lists, two for requests and responses.
        configuration.maximumReaderCount = 3
        configuration.prepareDatabase { try prepare($0) }
        let pool = try DatabasePool(path: path, configuration: configuration)
        try pool.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA synchronous = FULL")
            guard try Int.fetchOne(db, sql: "PRAGMA synchronous") == 2 else {
                throw StoreError(code: 1, text: "synchronous=FULL could not be set")
            }
            // The log is copied into the database every 16 MiB: bursts rewrite the same pages less often, and a
            // crash leaves no more than that to be read again.
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 4096")
            // A log that one long reader let grow is cut back.
            try db.execute(sql: "PRAGMA journal_size_limit = \(64 << 20)")
            try db.execute(sql: "PRAGMA cache_size = -\(writerCacheKiB)")
        }
        return pool
    }

    private static func prepare(_ db: Database) throws {
        // Takes effect in a new database only, where free pages can be given back to the file system then (`StoreWriter`).
        // A connection that only reads may not set it.
        if !db.configuration.readonly { try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL") }
        try db.execute(
            sql: """
                PRAGMA synchronous = FULL;
                PRAGMA trusted_schema = OFF;
                PRAGMA cell_size_check = ON;
                PRAGMA temp_store = MEMORY;
                PRAGMA cache_size = -\(readerCacheKiB);
                """)
        // Deleted data is overwritten, in free pages too, so that bodies of finished tickets cannot be read.
        _ = try Int.fetchOne(db, sql: "PRAGMA secure_delete = ON")
    }
}
