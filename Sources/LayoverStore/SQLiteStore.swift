import Dispatch
import GRDB
import Glibc
package import LayoverCore
package import LayoverEngine
import LayoverSystem
package import Logging

/// The embedded store: one SQLite database, one folder of big bodies, one key file.
///
/// One connection writes, on one thread (`StoreWriter`); a few others read. The log (WAL) is synced at every commit
/// (`synchronous=FULL`), so a completed change is on disk, also after a power cut.
package final class SQLiteStore: PendingStore {
    /// Bytes of all bodies of the store when it was opened, in spool files and in rows.
    package let bodyByteCountAtStart: Int

    /// The ids by which the tickets of this store are shown, the same in every run.
    package let naming: EntryNaming

    let path: String
    let folder: String
    let pool: DatabasePool
    let sealing: FieldSealing
    /// Reads lists, one after the other.
    let lists = DispatchQueue(label: "layover.store.lists")
    private let writer: StoreWriter
    /// Held as long as the store is.
    private let lock: StoreLock
    /// Held as long as the store is.
    private let owner: SpoolOwner

    init(
        path: String, naming: EntryNaming, bodyByteCount: Int, pool: DatabasePool, sealing: FieldSealing, writer: StoreWriter,
        lock: StoreLock, owner: SpoolOwner
    ) {
        self.path = path
        self.naming = naming
        bodyByteCountAtStart = bodyByteCount
        folder = PrivateFolder.of(path)
        self.pool = pool
        self.sealing = sealing
        self.writer = writer
        self.lock = lock
        self.owner = owner
    }

    package func commit(
        _ changes: [StoreChange], done: @escaping @Sendable (Result<[StoreResult], StoreFailure>) -> Void
    ) {
        writer.hand(.commit(ChangesCall(changes: changes, done: done)))
    }

    package func removeEnded(
        before: Timestamp, limit: Int, done: @escaping @Sendable (Result<Int, StoreFailure>) -> Void
    ) {
        writer.hand(.removeEnded(before: before, limit: limit, done: done))
    }

    package var isUncertain: Bool { writer.health.lastFailure?.mayBeStored == true }

    package var condition: StoreCondition {
        StoreCondition(
            failure: writer.health.lastFailure, byteCount: byteCount(path) + byteCount(path + "-wal"),
            commitTimes: writer.commitTimes.current)
    }

    package func close() async {
        await withCheckedContinuation { continuation in
            writer.hand(.close { continuation.resume() })
        }
        owner.release()
        lock.release()
    }

    private func byteCount(_ path: String) -> Int {
        var facts = stat()
        return stat(path, &facts) == 0 ? Int(facts.st_size) : 0
    }
}

/// How a store is opened.
package struct StoreOptions: Sendable {
    /// The database file (`store.path`). Its log (`-wal`), the log's index (`-shm`), its lock (`.lock`) and its key
    /// file lie beside it.
    package var path: String
    /// The folder of bodies that are too big for a row (`store.spool`). Default: `spool` beside the database.
    package var spoolFolder: String
    /// Names of fields, in any case, whose values are sealed; `Cookie` means `Set-Cookie` too
    /// (`store.encryptFields`). Default: all credential fields that are known.
    package var encryptFields = CredentialFields.sealedByDefault
    /// More of them, which may change while the store is open. Default: none.
    package var routeFields = SealedFields()
    /// Most changes that share one commit. Default: 4 096.
    package var groupCountMax = 4_096
    /// Called with the size of each body that the store has removed, from a file or a row, on any thread. Default: does nothing.
    package var bodyRemoved: @Sendable (Int) -> Void = { _ in }
    package var logger = Logger(label: "layover.store")

    package init(path: String, spoolFolder: String? = nil) {
        self.path = path
        self.spoolFolder = spoolFolder ?? PrivateFolder.of(path) + "/spool"
    }

    /// `store.key` beside the database.
    package var keyFile: String { PrivateFolder.of(path) + "/store.key" }
}
