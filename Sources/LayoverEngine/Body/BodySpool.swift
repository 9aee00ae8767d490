import Glibc
package import NIOPosix
import Synchronization

/// The folder of spool files, the threads that touch them, and the limit on all bodies that are kept together, be it in files
/// or in rows of the store.
///
/// Files have no name as long as their request waits on its client's connection: nothing of it may outlive the
/// process. The body of a ticket, or of its response, is given one.
package final class BodySpool: Sendable {
    package let folder: String
    /// Most bytes of bodies in spool files and in rows together. Default: 1 GiB (`limits.spoolTotal`).
    package let byteCountMax: Int
    let threads: NIOThreadPool
    private let used = Atomic<Int>(0)
    let folderSync: FolderSync

    package init(folder: String, byteCountMax: Int, threads: NIOThreadPool) {
        self.folder = folder
        folderSync = FolderSync(path: folder)
        self.byteCountMax = byteCountMax
        self.threads = threads
    }

    /// Bytes of bodies in spool files and in rows now.
    package var usedByteCount: Int { used.load(ordering: .relaxed) }

    func reserve(_ count: Int) -> Bool {
        var known = usedByteCount
        // Bytes are counted only if they fit: a body that is refused must not make another body fail that fits.
        while known + count <= byteCountMax {
            let (isReserved, now) = used.compareExchange(expected: known, desired: known + count, ordering: .relaxed)
            if isReserved { return true }
            known = now
        }
        return false
    }

    func release(_ count: Int) { used.subtract(count, ordering: .relaxed) }

    /// Counts a body without a check of the limit: it was in the store at the start.
    package func countStored(_ count: Int) { used.add(count, ordering: .relaxed) }

    /// A body in a named file or in a row is gone.
    package func removedStored(_ count: Int) { release(count) }
}

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

/// Why a body could not be kept in the spool.
package enum SpoolFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// `limits.spoolTotal` is reached. Bytes.
    case limit(Int)
    /// The system said no, by its errno.
    case system(Int32)

    /// A complete sentence.
    package var description: String {
        switch self {
        case .limit(let count): "The spool is full: limits.spoolTotal (\(count) bytes) is reached."
        case .system(let code): "The spool could not be written (store.spool): \(String(cString: strerror(code)))."
        }
    }
}
