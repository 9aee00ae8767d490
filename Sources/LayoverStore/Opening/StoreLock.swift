import Glibc
import LayoverEngine
import LayoverSystem
import Synchronization

/// Sees to it that one process at a time has a store: a lock on the file `<database>.lock` (flock(2)), which ends
/// with the process, however it ends. The file holds the process id, for the error message of another process.
final class StoreLock: Sendable {
    /// -1 once it is released.
    private let descriptor: Mutex<Int32>

    init(besides database: String) throws(StoreFailure) {
        let path = database + ".lock"
        let file = open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw StoreFile.failure("open", path) }
        guard FileLock.take(file, waits: false) else {
            let failure = errno == EWOULDBLOCK ? Self.locked(database, file) : StoreFile.failure("lock", path)
            Glibc.close(file)
            throw failure
        }
        // Only for people, so that it does no harm if the disk is full.
        ftruncate(file, 0)
        let text = Array("\(getpid())\n".utf8)
        _ = text.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, 0) }
        descriptor = Mutex(file)
    }

    deinit { release() }

    func release() {
        let file = descriptor.withLock { descriptor in
            defer { descriptor = -1 }
            return descriptor
        }
        if file >= 0 { FileLock.close(file) }
    }

    private static func locked(_ database: String, _ file: Int32) -> StoreFailure {
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = bytes.withUnsafeMutableBytes { pread(file, $0.baseAddress, $0.count, 0) }
        let word = String(decoding: bytes[..<max(0, count)], as: UTF8.self).prefix { $0 != "\n" }
        let holder = Int(word).map { "process \($0)" } ?? "another process"
        return StoreFailure(.locked, "\(database) is in use by \(holder). Stop it first, or set another store.path.")
    }
}
