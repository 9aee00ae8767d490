import Glibc
import LayoverCore
import LayoverEngine
import LayoverSystem

/// Ensures that a spool folder belongs to one store: the file `owner` in it names the store, and is locked (flock(2))
/// as long as that store is open.
///
/// A body that no row of the store names may be removed only if this store has written it. So bodies that were in the
/// folder before the store are never removed: they may belong to a store that was moved away to be
/// repaired.
final class SpoolOwner: Sendable {
    /// Names of bodies that may belong to another store.
    private(set) nonisolated(unsafe) var spared: Set<String> = []
    /// Whether the folder was this store's already. Protected like `spared`: both are set while the store is opened, by
    /// one thread, and only read by it.
    private(set) nonisolated(unsafe) var isOurs = false

    /// The content of the file. Protected like `spared`.
    private nonisolated(unsafe) var content: [UInt8] = []

    private let path: String
    private let store: String
    private let database: String
    private let file: LockedFile

    /// - Parameters:
    ///   - store: The identity of the store, in hexadecimal.
    ///   - database: Its file.
    init(of folder: String, store: String, database: String) throws(StoreFailure) {
        path = folder + "/owner"
        self.store = store
        self.database = Self.absolute(database)
        let descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw StoreFile.failure("open", path) }
        file = LockedFile(descriptor)
        guard FileLock.take(descriptor, waits: false) else {
            guard errno == EWOULDBLOCK else { throw StoreFile.failure("lock", path) }
            throw StoreFailure(.locked, "The spool folder \(folder) is in use by another store. \(Self.advice)")
        }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw StoreFile.failure("read", path) }
        let bytes = try StoreFile.read(path, byteCountMax: max(1, Int(facts.st_size))) ?? []
        content = bytes
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { String($0) }
        let owner = lines.count > 1 ? (store: lines[0], database: lines[1]) : nil
        isOurs = owner?.store == store
        if let owner, owner.database != self.database, access(owner.database, F_OK) == 0 {
            throw StoreFailure(
                .other,
                "The spool folder \(folder) belongs to the store \(owner.database). \(Self.advice) If \(self.database) and this folder "
                    + "are a copy of it, remove the file \(path) and start again; tickets that both have are then sent by both.")
        }
        if isOurs { spared = Set(lines.dropFirst(2)) }
    }

    private static let advice = "Give each store a folder of its own (store.path), or a spool folder of its own (store.spool)."

    /// Saves that the folder belongs to this store, and which bodies do not. On disk when this returns. A file that says so already is not
    /// written: a kill amid the write leaves it empty, and the next start could not tell whose bodies these are.
    func claim(sparing names: Set<String>) throws(StoreFailure) {
        let text = Array(([store, database] + names.sorted()).joined(separator: "\n").utf8 + [0x0A])
        spared = names
        guard text != content else { return }
        let isWritten = file.withDescriptor { descriptor in
            // In place, because the lock is on this file. If the write is torn, no body is removed.
            ftruncate(descriptor, 0) == 0
                && text.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) } == text.count && fsync(descriptor) == 0
        }
        guard isWritten else { throw StoreFile.failure("write", path) }
        content = text
    }

    func release() { file.release() }

    private static func absolute(_ path: String) -> String {
        guard let real = realpath(PrivateFolder.of(path), nil) else { return path }
        defer { free(real) }
        return String(cString: real) + "/" + String(path.split(separator: "/").last ?? "")
    }
}
