import Foundation

/// A change of a configuration file. The file is locked against other such changes until this object is released, and a reader sees
/// the old text or the new one.
package final class ConfigurationRewriting {
    /// Where the text is, behind symbolic links.
    package let path: String
    package let bytes: [UInt8]
    private let lock: CInt
    private let facts: stat

    /// - Parameter path: Of the file, as it was named.
    /// - Throws: If it cannot be read.
    package init(_ named: String) throws(ConfigurationError) {
        path = URL(fileURLWithPath: named).resolvingSymlinksInPath().path
        while true {
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw Self.failure(named, "cannot be read") }
            guard flock(descriptor, LOCK_EX) == 0 else {
                defer { close(descriptor) }
                throw Self.failure(named, "cannot be locked")
            }
            // Another file may have replaced this one during the wait for the lock.
            var (locked, current) = (stat(), stat())
            if fstat(descriptor, &locked) == 0, stat(path, &current) == 0, locked.st_ino == current.st_ino,
                locked.st_dev == current.st_dev
            {
                (lock, facts) = (descriptor, locked)
                break
            }
            close(descriptor)
        }
        do throws(ConfigurationError) {
            bytes = try ConfigurationFile.read(path)
        } catch {
            close(lock)
            throw error
        }
    }

    deinit { close(lock) }

    /// Whether every user of this machine can read it.
    package var isReadableByEverybody: Bool { facts.st_mode & 0o004 != 0 }

    /// Replaces the file by one with the same owner and permissions.
    ///
    /// - Parameter check: Looks at the new file before it takes the place of the old one.
    /// - Throws: If the folder or the disk does not allow it, or what `check` throws; the old file is there then.
    package func replace(with bytes: [UInt8], check: (_ draft: String) throws -> Void) throws {
        let draft = "\(path).\(getpid()).new"
        unlink(draft)
        let file = open(draft, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw Self.failure(path, "cannot be replaced") }
        defer { unlink(draft) }
        do {
            defer { close(file) }
            let handle = FileHandle(fileDescriptor: file, closeOnDealloc: false)
            do { try handle.write(contentsOf: bytes) } catch { throw Self.failure(path, "cannot be written") }
            // Only root may change the owner; without the right the old file stays.
            if facts.st_uid != geteuid() || facts.st_gid != getegid(),
                fchown(file, facts.st_uid, facts.st_gid) != 0
            {
                throw Self.failure(path, "belongs to another user, who must make the change")
            }
            guard fchmod(file, facts.st_mode & 0o7777) == 0, fsync(file) == 0 else {
                throw Self.failure(path, "cannot be replaced")
            }
        }
        try check(draft)
        guard rename(draft, path) == 0 else { throw Self.failure(path, "cannot be replaced") }
    }

    private static func failure(_ path: String, _ words: String) -> ConfigurationError {
        ConfigurationError(source: path, path: "", message: "\(words): \(String(cString: strerror(errno)))")
    }
}
