import Glibc
import LayoverCrypto
import LayoverEngine

/// The key file lies in a folder that may hold more than one database.
enum KeySharing {
    /// Runs work that reads or creates the key file, while no other store of the folder does (flock(2)).
    static func alone<Value>(in folder: String, _ body: () throws -> Value) throws -> Value {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw StoreFile.failure("open the folder", folder) }
        defer { Glibc.close(descriptor) }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw StoreFile.failure("lock the folder", folder) }
        }
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
