#if canImport(Glibc)
import Glibc
#endif
import Synchronization

/// Syncs a folder, so that the names in it are there after a power cut (fsync(2)).
///
/// The kernel reports an error of the disk to one sync, and the next one succeeds though the names from before are lost. So a
/// sync counts only if none has failed since the name was made.
final class FolderSync: Sendable {
    let path: String
    private let failures = Mutex(0)

    init(path: String) { self.path = path }

    /// Syncs that have failed so far. To be taken before a name is made.
    var failureCount: Int { failures.withLock { $0 } }

    /// - Parameter failureCount: What it was before the name was made.
    /// - Returns: Whether the name is on disk. If not, errno tells why.
    func sync(failureCount: Int) -> Bool {
        failures.withLock { failures in
            let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard descriptor >= 0 else { return false }
            defer { close(descriptor) }
            guard fsync(descriptor) == 0 else {
                failures += 1
                return false
            }
            guard failures == failureCount else {
                errno = EIO
                return false
            }
            return true
        }
    }
}
