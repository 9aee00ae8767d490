import FoundationEssentials
import GRDB
import LayoverCore
package import LayoverEngine
import LayoverSystem
import Logging

extension SQLiteStore {
    /// Opens a store, or makes a new one.
    ///
    /// A file that is damaged, is not a Layover database, or was written by a newer version is refused and left as it
    /// is. Checked are the file's head and schema, and every page of the database while it is small
    /// (`StoreInspection.thoroughByteCountMax`); a big one would take longer than a start may. There a damaged page
    /// shows when its rows are read: at start for live tickets, later for requests and responses.
    package static func open(options: StoreOptions) throws(StoreFailure) -> SQLiteStore {
        let folder = PrivateFolder.of(options.path)
        try StoreFile.makeFolder(folder)
        try StoreFile.makeFolder(options.spoolFolder)
        let lock = try StoreLock(besides: options.path)
        try StoreInspection.inspect(options.path)
        try StoreFile.make(options.path)
        do {
            let pool = try StoreConnections.open(options.path)
            try StoreSchema.migrator().migrate(pool)
            let owner = try spoolOwner(options, pool)
            let keys = try KeySharing.alone(in: folder) { try KeyRing.load(options, pool) }
            let sealing = FieldSealing(names: options.encryptFields, routeFields: options.routeFields, keys: keys)
            let spool = SpoolFolder(path: options.spoolFolder, removed: options.bodyRemoved)
            let bodyByteCount = try sweep(spool, owner, pool, options.logger)
            let writer = try StoreWriter(
                pool: pool, sealing: sealing, spool: spool, folder: folder,
                limits: .init(changeCountMax: options.groupCountMax), logger: options.logger)
            return SQLiteStore(
                path: options.path, naming: try naming(pool), bodyByteCount: bodyByteCount, pool: pool, sealing: sealing, writer: writer,
                lock: lock, owner: owner)
        } catch {
            throw StoreInspection.failure(of: error, path: options.path)
        }
    }

    /// A program that can read the store's identity can read its tickets as well.
    private static func naming(_ pool: DatabasePool) throws -> EntryNaming {
        let store = try pool.read { try Data.fetchOne($0, sql: "SELECT storeID FROM facts") }
        guard let store, store.count == 16 else { throw StoreError.malformedRow }
        return try EntryNaming(secret: Array(store))
    }

    private static func spoolOwner(_ options: StoreOptions, _ pool: DatabasePool) throws -> SpoolOwner {
        let store = try pool.read { try String.fetchOne($0, sql: "SELECT lower(hex(storeID)) FROM facts") ?? "" }
        return try SpoolOwner(of: options.spoolFolder, store: store, database: options.path)
    }

    /// The row may hold any number: the addition must not overflow.
    private static func sum(_ all: Int, _ count: Int64) -> Int {
        min(all + Int(min(max(0, count), Int64(RowReader.countMax))), RowReader.countMax)
    }

    /// Removes the bodies that no row names, if they are this store's.
    ///
    /// - Returns: The bytes of all that rows keep, in files or by themselves.
    private static func sweep(
        _ spool: SpoolFolder, _ owner: SpoolOwner, _ pool: DatabasePool, _ logger: Logger
    ) throws -> Int {
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
                byteCount = sum(byteCount, file[1])
            }
            // From their indexes: the rows themselves may be big.
            for table in ["request", "answer"] {
                let inRows = try Int64.fetchCursor(
                    db, sql: "SELECT bodyByteCount FROM \(table) WHERE bodyFile IS NULL AND bodyByteCount > 0")
                while let count = try inRows.next() { byteCount = sum(byteCount, count) }
            }
        }
        let spared = try spool.bodyNames().subtracting(names)
        if !owner.isOurs, !spared.isEmpty {
            logger.notice(
                "the spool folder holds bodies of another store; they are kept",
                metadata: ["folder": "\(spool.path)", "count": "\(spared.count)"])
        }
        try owner.claim(sparing: owner.isOurs ? spared.intersection(owner.spared) : spared)
        let count = try spool.sweep(keeping: names.union(owner.spared))
        if count > 0 { logger.info("removed bodies without a ticket", metadata: ["count": "\(count)"]) }
        return byteCount
    }
}
