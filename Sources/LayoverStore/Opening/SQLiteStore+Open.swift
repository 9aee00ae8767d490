import GRDB
package import LayoverEngine
import Logging

extension SQLiteStore {
    /// Opens a store, or makes a new one.
    ///
    /// A file that is damaged, is no database of ours, or was written by a newer version is refused and left as it
    /// is. What is looked at: the file's head and schema, and every page of the database while it is small
    /// (`StoreInspection.thoroughByteCountMax`); a big one would take longer than a start may. There a damaged page
    /// shows when its rows are read: at start for live tickets, later for requests and answers.
    package static func open(options: StoreOptions) throws(StoreFailure) -> SQLiteStore {
        let folder = PrivateFile.folder(of: options.path)
        try PrivateFile.makeFolder(folder)
        try PrivateFile.makeFolder(options.spoolFolder)
        let lock = try StoreLock(besides: options.path)
        try StoreInspection.inspect(options.path)
        try PrivateFile.make(options.path)
        do {
            let pool = try StoreConnections.open(options.path)
            try StoreSchema.migrator().migrate(pool)
            let keys = try KeyRing.load(options, pool)
            let sealing = FieldSealing(names: options.encryptFields, keys: keys)
            let spool = SpoolFolder(path: options.spoolFolder, removed: options.bodyRemoved)
            let bodyByteCount = try sweep(spool, pool, options.logger)
            let writer = try StoreWriter(
                pool: pool, sealing: sealing, spool: spool, folder: folder,
                limits: .init(changeCountMax: options.groupCountMax), logger: options.logger)
            return SQLiteStore(
                path: options.path, bodyByteCount: bodyByteCount, pool: pool, sealing: sealing, writer: writer, lock: lock)
        } catch let failure as StoreFailure {
            throw failure
        } catch {
            throw StoreInspection.failure(of: error, path: options.path)
        }
    }

    /// Removes the bodies that no row names.
    ///
    /// - Returns: The bytes of those that stay.
    private static func sweep(_ spool: SpoolFolder, _ pool: DatabasePool, _ logger: Logger) throws -> Int {
        var names: Set<String> = []
        var byteCount = 0
        try pool.read { db in
            let files = try Row.fetchCursor(
                db,
                sql: """
                    SELECT bodyFile, bodyByteCount FROM request WHERE bodyFile IS NOT NULL
                    UNION ALL SELECT bodyFile, bodyByteCount FROM answer WHERE bodyFile IS NOT NULL
                    """)
            while let file = try files.next() {
                names.insert(file[0])
                byteCount += file[1] as Int
            }
        }
        let count = try spool.sweep(keeping: names)
        if count > 0 { logger.info("swept bodies that no ticket names", metadata: ["count": "\(count)"]) }
        return byteCount
    }
}
