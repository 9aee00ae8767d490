import Foundation
import LayoverSystem

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
            guard FileLock.take(descriptor, waits: true) else {
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
            FileLock.close(descriptor)
        }
        do throws(ConfigurationError) {
            bytes = try ConfigurationFile.read(path)
        } catch {
            FileLock.close(lock)
            throw error
        }
    }

    deinit { FileLock.close(lock) }

    /// Whether every user of this machine can read it.
    package var isReadableByEverybody: Bool { facts.st_mode & 0o004 != 0 }

    /// Replaces the file by one with the same owner and permissions.
    ///
    /// - Parameter check: Looks at the new file before it takes the place of the old one.
    /// - Throws: If the folder or the disk does not allow it, or what `check` throws; the old file is there then. If only the sync of
    ///   the folder fails, the new file is there.
    package func replace(with bytes: [UInt8], check: (_ draft: String) throws -> Void) throws {
        let draft = try makeDraft(bytes)
        do {
            try check(draft.path)
        } catch {
            draft.remove()
            throw error
        }
        do throws(PrivateFileError) { try draft.publish() } catch { throw failure(error) }
    }

    private func makeDraft(_ bytes: [UInt8]) throws(ConfigurationError) -> PrivateFile.Draft {
        do throws(PrivateFileError) {
            // Only root may change the owner; without the right the old file stays.
            return try PrivateFile.Draft(
                bytes, for: path, mode: facts.st_mode & 0o7777,
                owner: PrivateFile.Owner(user: facts.st_uid, group: facts.st_gid))
        } catch {
            throw failure(error)
        }
    }

    private func failure(_ error: PrivateFileError) -> ConfigurationError {
        let words =
            switch error.step {
            case .write: "cannot be written"
            case .owner: "belongs to another user, who must make the change"
            case .openFolder, .syncFolder: "is changed, but its folder cannot be synced"
            default: "cannot be replaced"
            }
        return ConfigurationError(source: path, path: "", message: "\(words): \(error.reason)")
    }

    private static func failure(_ path: String, _ words: String) -> ConfigurationError {
        ConfigurationError(source: path, path: "", message: "\(words): \(String(cString: strerror(errno)))")
    }
}
