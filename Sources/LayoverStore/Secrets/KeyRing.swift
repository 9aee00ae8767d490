import GRDB
import Glibc
import LayoverEngine
import LayoverSystem

/// Brings the key file and the database together when a store is opened.
enum KeyRing {
    /// The keys of a store. Without a key file a key is made now.
    ///
    /// - Throws: `StoreFailure` if rows are sealed with a key that the file does not have.
    static func load(_ options: StoreOptions, _ pool: DatabasePool) throws -> StoreKeys {
        let file = StoreKeyFile(path: options.keyFile)
        let known = try pool.read { try fingerprints($0) }
        let kept = try file.read()
        let missing = try known.filter { try kept?.fingerprint(of: $0.key) != $0.value }
        if !missing.isEmpty, try pool.read({ try isAnySealed(with: Array(missing.keys), $0) }) {
            throw StoreFailure(
                .other,
                """
                \(options.keyFile) \(kept == nil ? "is missing" : "is not the key file of this store"), and \
                \(options.path) holds tickets encrypted with it. Restore the right file, or move the store away.
                """)
        }
        let keys = try kept ?? StoreKeys.adding(to: nil, above: known.keys.max() ?? 0)
        if kept == nil { try file.write(keys) }
        try pool.write { db in
            for number in missing.keys {
                try db.execute(sql: "DELETE FROM sealing WHERE keyNumber = ?", arguments: [number])
            }
            try note(keys, db)
        }
        return keys
    }

    /// Saves the fingerprints of all keys. The caller does so before anything is sealed with a new key.
    static func note(_ keys: StoreKeys, _ db: Database) throws {
        for number in keys.keys.keys.sorted() {
            guard let fingerprint = try keys.fingerprint(of: number) else { continue }
            var row = StatementBinder(
                try db.makeStatement(sql: "INSERT OR IGNORE INTO sealing (keyNumber, fingerprint) VALUES (?, ?)"))
            row.bind(number)
            row.bind(fingerprint)
            try row.run()
        }
    }

    private static func fingerprints(_ db: Database) throws -> [Int: [UInt8]] {
        var fingerprints: [Int: [UInt8]] = [:]
        try StatementBinder(try db.makeStatement(sql: "SELECT keyNumber, fingerprint FROM sealing")).run { row in
            fingerprints[row.int()] = Array(row.bytes())
        }
        return fingerprints
    }

    /// Whether any row is sealed with one of these keys. The query may read all rows, so the caller asks only if a key is missing.
    private static func isAnySealed(with numbers: [Int], _ db: Database) throws -> Bool {
        let list = numbers.map(String.init).joined(separator: ", ")
        return try Bool.fetchOne(
            db,
            sql: """
                SELECT EXISTS (SELECT 1 FROM request WHERE keyNumber IN (\(list)))
                    OR EXISTS (SELECT 1 FROM answer WHERE keyNumber IN (\(list)))
                """) ?? false
    }
}

/// The key file lies in a folder that may hold more than one database.
enum KeySharing {
    /// Runs work that reads or creates the key file, while no other store of the folder does (flock(2)).
    static func alone<Value>(in folder: String, _ body: () throws -> Value) throws -> Value {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw StoreFile.failure("open the folder", folder) }
        defer { FileLock.close(descriptor) }
        guard FileLock.take(descriptor, waits: true) else { throw StoreFile.failure("lock the folder", folder) }
        return try body()
    }

    /// The path of another Layover database beside this one; nil if there is no other.
    static func neighbour(of database: String) throws(StoreFailure) -> String? {
        let path = PrivateFolder.of(database)
        guard let folder = opendir(path) else { throw StoreFile.failure("read the folder", path) }
        defer { closedir(folder) }
        let own = database.split(separator: "/").last.map(String.init)
        while let entry = readdir(folder) {
            let isFile = entry.pointee.d_type == UInt8(DT_REG) || entry.pointee.d_type == UInt8(DT_UNKNOWN)
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard isFile, name != own, name != ".", name != "..", isStore("\(path)/\(name)") else { continue }
            return "\(path)/\(name)"
        }
        return nil
    }

    /// The head of a database has the mark of its application at byte 68 (sqlite.org/fileformat.html).
    private static func isStore(_ path: String) -> Bool {
        guard let head = try? StoreFile.head(of: path, byteCount: 72), head.count == 72,
            head.starts(with: Array("SQLite format 3\0".utf8))
        else { return false }
        let mark = head[68...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return mark == UInt32(bitPattern: StoreSchema.applicationID)
    }
}
