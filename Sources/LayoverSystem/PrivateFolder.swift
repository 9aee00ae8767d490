import Synchronization

#if canImport(Glibc)
import Glibc
#endif

/// Makes and syncs folders that only the user who runs the program may read.
package enum PrivateFolder {
    /// The folder of a path: the part before the last slash. `.` if there is no slash.
    package static func of(_ path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Makes a folder and those above it if they are missing, with mode 0700. A folder that exists keeps its mode.
    ///
    /// - Throws: `PrivateFileError` with the step `makeFolder` and the folder that could not be made.
    package static func make(_ path: String) throws(PrivateFileError) {
        if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT else { throw PrivateFileError(.makeFolder, path) }
        let parent = of(path)
        // The current folder was removed, or the path is empty.
        guard parent != path, parent != "." else { throw PrivateFileError(.makeFolder, path, code: ENOENT) }
        try make(parent)
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw PrivateFileError(.makeFolder, path) }
    }

    /// The names in a folder, in no order. Nil: the folder cannot be read, and `errno` has the reason.
    package static func names(in path: String) -> [String]? {
        guard let folder = opendir(path) else { return nil }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            names.append(withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names
    }

    /// Errors of file systems that sync no folders.
    private static let unsupported: Set<CInt> = [EINVAL, EBADF, ENOTSUP, ENOSYS]

    /// Syncs a folder, so that the names in it are there after a power cut (fsync(2)).
    ///
    /// Does nothing where this user may not read the folder, or where the file system syncs no folders: a file can be written
    /// there all the same.
    ///
    /// - Throws: `PrivateFileError` with the step `openFolder` or `syncFolder`.
    package static func sync(_ path: String) throws(PrivateFileError) {
        let folder = PrivateFile.retried { Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard folder >= 0 else {
            if errno == EACCES { return }
            throw PrivateFileError(.openFolder, path)
        }
        defer { Glibc.close(folder) }
        guard fsync(folder) == 0 || unsupported.contains(errno) else { throw PrivateFileError(.syncFolder, path) }
    }
}

/// Locks of files and folders against other processes, and other descriptors of this one (flock(2)). A lock ends with the process,
/// however that ends.
package enum FileLock {
    /// Locks an open file or folder.
    ///
    /// - Parameter waits: Whether to wait while another descriptor has the lock.
    /// - Returns: False: there is no lock, and `errno` has the reason. It is EWOULDBLOCK if another descriptor has the lock.
    package static func take(_ file: CInt, waits: Bool) -> Bool {
        PrivateFile.retried { flock(file, waits ? LOCK_EX : LOCK_EX | LOCK_NB) } == 0
    }

    /// Unlocks and closes a file or folder.
    ///
    /// A program that another thread is starting has a copy of the descriptor until it runs. A lock that is only closed lasts as long.
    package static func close(_ file: CInt) {
        flock(file, LOCK_UN)
        Glibc.close(file)
    }
}

/// An open file that has a lock, or is about to get one (`FileLock`). Whoever lets go of this object last unlocks and closes the file.
package final class LockedFile: Sendable {
    /// -1 once it is released.
    private let descriptor: Mutex<CInt>

    /// - Parameter descriptor: Of the open file. Nobody else closes it.
    package init(_ descriptor: CInt) { self.descriptor = Mutex(descriptor) }

    deinit { release() }

    /// Unlocks and closes the file now. A second call does nothing.
    package func release() {
        let file = descriptor.withLock { descriptor in
            defer { descriptor = -1 }
            return descriptor
        }
        if file >= 0 { FileLock.close(file) }
    }

    /// Uses the descriptor, which nobody closes meanwhile. It is -1 once the file is released.
    package func withDescriptor(_ use: (CInt) -> Bool) -> Bool { descriptor.withLock { use($0) } }
}
