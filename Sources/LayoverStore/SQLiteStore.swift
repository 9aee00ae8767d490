import Dispatch
import Glibc
import GRDB
package import LayoverCore
import LayoverCrypto
package import LayoverEngine

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

    package var isUncertain: Bool { writer.health.lastFailure?.mayBeKept == true }

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
