import Dispatch
import Glibc
import LayoverEngine
import LayoverSystem

/// The folder of the bodies that are too big for a row. Files are removed on a thread of its own, after the commit
/// that released them: a crash in between leaves a file that no row names, which the next start removes.
final class SpoolFolder: Sendable {
    /// A released body.
    struct Released: Equatable {
        /// The file of the body; nil: the body was in a row.
        var name: String?
        var byteCount: Int

        var takesRoom: Bool { name != nil || byteCount > 0 }
    }

    let path: String
    private let removed: @Sendable (Int) -> Void
    private let remover = DispatchQueue(label: "layover.store.spool")

    /// - Parameter removed: Called with the size of each removed body, those in rows too.
    init(path: String, removed: @escaping @Sendable (Int) -> Void) {
        self.path = path
        self.removed = removed
    }

    /// Removes bodies, later and in order. A file that is missing is no error. A reader of one keeps it open, so that it can still be read.
    func remove(_ bodies: [Released]) {
        guard !bodies.isEmpty else { return }
        remover.async { [path, removed] in
            // A name from a damaged row must not lead out of the folder.
            for body in bodies {
                if let name = body.name {
                    guard StoredBody.isFileName(name) else { continue }
                    unlink("\(path)/\(name)")
                }
                removed(body.byteCount)
            }
        }
    }

    /// Waits until all released bodies are removed.
    func finish() { remover.sync {} }

    /// Removes the bodies that no row names. No other process can be about to name one: the store is locked, and so is the
    /// folder.
    ///
    /// - Returns: How many were removed.
    func sweep(keeping names: Set<String>) throws(StoreFailure) -> Int {
        try bodyNames().subtracting(names).reduce(0) { count, name in
            unlink("\(path)/\(name)") == 0 ? count + 1 : count
        }
    }

    /// Files with names as in `StoredBody`. Other files are left alone: the folder may belong to the user.
    func bodyNames() throws(StoreFailure) -> Set<String> {
        guard let names = PrivateFolder.names(in: path) else { throw StoreFile.failure("read the folder", path) }
        return Set(names.filter(StoredBody.isFileName))
    }
}
