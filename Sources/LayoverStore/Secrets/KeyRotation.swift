import GRDB
import LayoverCore
package import LayoverEngine
import Logging

/// One run over all rows, which seals them with a new key.
struct KeyRotation {
    /// The points at which the run might break off.
    enum Point: CaseIterable {
        case keysLoaded, bothKeysKept, newKeyKnown, portionResealed, oldKeysForgotten, fileHasNewKeyOnly
    }

    /// Rows that are sealed anew in one transaction.
    private static let portion = 500

    let options: StoreOptions
    let pool: DatabasePool

    func run(_ passed: (Point) throws -> Void) throws -> Int {
        let file = StoreKeyFile(path: options.keyFile)
        let older = try KeyRing.load(options, pool)
        try passed(.keysLoaded)
        let known = try pool.read { try Int.fetchOne($0, sql: "SELECT max(keyNumber) FROM sealing") ?? 0 }
        let keys = try StoreKeys.adding(to: older, above: known)
        try file.write(keys)
        try passed(.bothKeysKept)
        try pool.write { try KeyRing.note(keys, $0) }
        try passed(.newKeyKnown)
        let sealing = FieldSealing(names: options.encryptFields, routeFields: options.routeFields, keys: keys)
        var count = 0
        for table in ["request", "answer"] { count += try reseal(table, sealing, keys.newestNumber, passed) }
        try pool.write { db in
            try db.execute(sql: "DELETE FROM sealing WHERE keyNumber <> ?", arguments: [keys.newestNumber])
        }
        // Values sealed with the old key are removed from the log too, before the key is deleted.
        _ = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        try passed(.oldKeysForgotten)
        try file.write(keys.newestOnly)
        try passed(.fileHasNewKeyOnly)
        return count
    }

    private func reseal(
        _ table: String, _ sealing: FieldSealing, _ number: Int, _ passed: (Point) throws -> Void
    ) throws -> Int {
        var last = 0
        var count = 0
        while true {
            let (done, next) = try pool.write { try resealPortion(table, sealing, number, after: last, $0) }
            if done == 0 { return count }
            count += done
            last = next
            try passed(.portionResealed)
        }
    }

    private func resealPortion(
        _ table: String, _ sealing: FieldSealing, _ number: Int, after last: Int, _ db: Database
    ) throws -> (count: Int, last: Int) {
        var rows: [(sequence: Int, id: EntryID, sealed: FieldSealing.Sealed)] = []
        var query = StatementBinder(
            try db.cachedStatement(
                sql: """
                    SELECT sequence, id, keyNumber, sealed FROM \(table) JOIN ticket USING (sequence)
                    WHERE sequence > ? AND keyNumber <> ? ORDER BY sequence LIMIT ?
                    """))
        query.bind(last)
        query.bind(number)
        query.bind(Self.portion)
        try query.run { (row) throws(StoreError) in
            let sequence = row.int()
            let id = try row.id()
            if let sealed = row.sealed() { rows.append((sequence, id, sealed)) }
        }
        let update = try db.cachedStatement(sql: "UPDATE \(table) SET keyNumber = ?, sealed = ? WHERE sequence = ?")
        for row in rows {
            var binder = StatementBinder(update)
            binder.bind(try sealing.resealed(row.sealed, of: row.id))
            binder.bind(row.sequence)
            try binder.run()
        }
        return (rows.count, rows.last?.sequence ?? last)
    }
}

extension SQLiteStore {
    /// Makes a new key and seals everything with it. The store must not be open.
    ///
    /// The key file holds the old and the new key until the last row is sealed with the new one, and every row says
    /// which key it is sealed with. So it may break off anywhere: the store opens all the same, and the next rotation
    /// finishes the work.
    ///
    /// - Returns: How many requests and responses were sealed anew.
    @discardableResult
    package static func rotateKey(options: StoreOptions) throws(StoreFailure) -> Int {
        try rotateKey(options: options) { _ in }
    }

    /// - Parameter passed: Called at each point at which it may be interrupted; an error that it throws interrupts it.
    static func rotateKey(
        options: StoreOptions, passed: (KeyRotation.Point) throws -> Void
    ) throws(StoreFailure) -> Int {
        let lock = try StoreLock(besides: options.path)
        defer { lock.release() }
        try StoreInspection.inspect(options.path)
        guard try StoreFile.head(of: options.path, byteCount: 1) != nil else {
            throw StoreFailure(.other, "\(options.path) does not exist, so there is no key to replace.")
        }
        if let neighbour = try KeySharing.neighbour(of: options.path) {
            throw StoreFailure(
                .other,
                """
                \(neighbour) may be encrypted with the same key (\(options.keyFile)) and could then not be opened. Move it to a \
                folder of its own first, with a copy of the key file.
                """)
        }
        do {
            let pool = try StoreConnections.open(options.path)
            defer { try? pool.close() }
            try StoreSchema.migrator().migrate(pool)
            let count = try KeyRotation(options: options, pool: pool).run(passed)
            options.logger.notice("store key replaced", metadata: ["count": "\(count)"])
            return count
        } catch {
            throw StoreInspection.failure(of: error, path: options.path)
        }
    }
}
