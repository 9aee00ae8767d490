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
        let (_, total) = used.add(count, ordering: .relaxed)
        if total <= byteCountMax { return true }
        release(count)
        return false
    }

    func release(_ count: Int) { used.subtract(count, ordering: .relaxed) }

    /// Counts a body without a check of the limit: it was in the store at the start.
    package func countStored(_ count: Int) { used.add(count, ordering: .relaxed) }

    /// A body in a named file or in a row is gone.
    package func removedStored(_ count: Int) { release(count) }
}
