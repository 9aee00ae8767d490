import Foundation
import Glibc

/// The folder of `admin-token` and `ports.json`, which belongs to one running instance at a time.
///
/// Instances of one user share `$XDG_RUNTIME_DIR/layover`. The first that runs keeps it, so that commands go on to find that one;
/// another one uses the folder of its store.
final class InstanceFolder: Sendable {
    let path: String
    /// Holds the lock as long as it is open. -1: there is none.
    private let descriptor: Int32

    private init(_ path: String, _ descriptor: Int32) { (self.path, self.descriptor) = (path, descriptor) }

    /// - Returns: Nil if another running instance has the folder.
    private static func lock(_ path: String) -> InstanceFolder? {
        // The folder itself is locked: a lock file would stay behind. The lock ends with the process, however that ends (flock(2)).
        let descriptor = open(path.isEmpty ? "." : path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
            close(descriptor)
            return nil
        }
        // A folder that cannot be opened, or whose file system knows no such locks, is used as it is.
        return InstanceFolder(path, descriptor)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The first of these folders that no other instance has, or the last one. Files of an earlier run are removed from all that are
    /// free: its token opens nothing any more, and its ports may be those of another program.
    static func claim(_ places: [String]) -> InstanceFolder {
        let free = places.compactMap(lock)
        for folder in free {
            AdminTokenFile.remove(from: folder.path)
            unlink(PortFile.path(in: folder.path))
        }
        return free.first ?? InstanceFolder(places.last ?? "", -1)
    }
}
