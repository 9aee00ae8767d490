import Glibc
import LayoverEngine
import LayoverSystem

/// The files and folders of a store: `PrivateFile` and `PrivateFolder` with a `StoreFailure` as the error.
enum StoreFile {
    /// Makes a folder and those above it if they are missing, with mode 0700.
    static func makeFolder(_ path: String) throws(StoreFailure) {
        do throws(PrivateFileError) {
            try PrivateFolder.make(path)
        } catch {
            throw failure(of: error, "make the folder", path)
        }
    }

    /// Makes an empty file with mode 0600 if it is missing. Removes the rights of others from a file that exists.
    static func make(_ path: String) throws(StoreFailure) {
        do throws(PrivateFileError) {
            try PrivateFile.make(path)
        } catch {
            throw failure(of: error, error.step == .mode ? "restrict" : "open", path)
        }
    }

    /// Reads a small file. Nil: there is none. Does not change the file: it may belong to another program.
    ///
    /// - Parameter byteCountMax: A longer file is an error. Default: 1 MiB.
    static func read(_ path: String, byteCountMax: Int = 1 << 20) throws(StoreFailure) -> [UInt8]? {
        do throws(PrivateFileError) {
            return try PrivateFile.read(path, byteCountMax: byteCountMax).bytes
        } catch {
            if error.code == ENOENT { return nil }
            throw failure(of: error, "read", path)
        }
    }

    /// Reads the first bytes of a file, fewer if it is shorter. Nil: there is none. Does not change the file.
    static func head(of path: String, byteCount: Int) throws(StoreFailure) -> [UInt8]? {
        do throws(PrivateFileError) {
            return try PrivateFile.head(of: path, byteCount: byteCount)
        } catch {
            if error.code == ENOENT { return nil }
            throw failure(of: error, "read", path)
        }
    }

    /// Replaces a file, which is on disk when this returns. The caller holds a lock against other writers.
    static func replace(_ path: String, with bytes: [UInt8]) throws(StoreFailure) {
        do throws(PrivateFileError) {
            try PrivateFile.write(bytes, to: path, writers: .one)
        } catch {
            throw failure(of: error, "write", path)
        }
    }

    /// The failure of the last system call.
    static func failure(_ action: String, _ path: String) -> StoreFailure {
        let code = errno
        return failure(action, path, code, String(cString: strerror(code)))
    }

    /// - Parameters:
    ///   - action: What was done to the file. A step that concerns a folder has its own words.
    ///   - path: The file as the caller named it, not its draft.
    private static func failure(of error: PrivateFileError, _ action: String, _ path: String) -> StoreFailure {
        switch error.step {
        case .makeFolder, .openFolder, .syncFolder: failure(error.action, error.path, error.code, error.reason)
        case .read, .kind, .size, .create, .write, .owner, .mode, .sync, .rename: failure(action, path, error.code, error.reason)
        }
    }

    private static func failure(_ action: String, _ path: String, _ code: Int32, _ reason: String) -> StoreFailure {
        let kind: StoreFailure.Kind =
            switch code {
            case ENOSPC, EDQUOT: .full
            case EROFS, EACCES, EPERM: .readOnly
            case EIO: .io
            default: .other
            }
        return StoreFailure(kind, "Cannot \(action) \(path): \(reason).")
    }
}

/// Sees to it that one process at a time has a store: a lock on the file `<database>.lock` (flock(2)), which ends
/// with the process, however it ends. The file holds the process id, for the error message of another process.
final class StoreLock: Sendable {
    private let file: LockedFile

    init(besides database: String) throws(StoreFailure) {
        let path = database + ".lock"
        let descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw StoreFile.failure("open", path) }
        file = LockedFile(descriptor)
        guard FileLock.take(descriptor, waits: false) else {
            throw errno == EWOULDBLOCK ? Self.locked(database, descriptor) : StoreFile.failure("lock", path)
        }
        // Only for people, so that it does no harm if the disk is full.
        ftruncate(descriptor, 0)
        let text = Array("\(getpid())\n".utf8)
        _ = text.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }

    func release() { file.release() }

    private static func locked(_ database: String, _ descriptor: CInt) -> StoreFailure {
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        let word = String(decoding: bytes[..<max(0, count)], as: UTF8.self).prefix { $0 != "\n" }
        let holder = Int(word).map { "process \($0)" } ?? "another process"
        return StoreFailure(.locked, "\(database) is in use by \(holder). Stop it first, or set another store.path.")
    }
}
