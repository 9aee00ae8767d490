import Dispatch
import GRDB
import LayoverCore
import LayoverEngine
import Logging
import NIOCore
import Synchronization

/// The one thread that changes the database. Whatever is handed in while a commit runs is committed together by the
/// next one, so that many acceptances share one sync of the disk.
final class StoreWriter: Sendable {
    private struct Mailbox {
        var calls: [WriterCall] = []
        var isRunning = false
        var isClosed = false
    }

    /// The limits of one group.
    struct Limits {
        /// Most changes in a group; a bigger call is a group by itself.
        var changeCountMax: Int
        /// Most bytes of bodies in rows per commit: it limits how long the next commit waits.
        var byteCountMax = 16 << 20
    }

    let health: StoreHealth
    let commitTimes = DelayMeter()
    private let mailbox = Mutex(Mailbox())
    private let thread = DispatchQueue(label: "layover.store.writer", qos: .userInitiated)
    private let pool: DatabasePool
    private let spool: SpoolFolder
    private let folder: String
    private let limits: Limits
    private let logger: Logger
    /// Protected by `thread`: nothing else touches it once the store is open.
    private nonisolated(unsafe) var group: GroupWriter?

    init(
        pool: DatabasePool, sealing: FieldSealing, spool: SpoolFolder, folder: String, limits: Limits, logger: Logger
    ) throws {
        self.pool = pool
        self.spool = spool
        self.folder = folder
        self.limits = limits
        self.logger = logger
        health = StoreHealth(logger: logger)
        group = try pool.writeWithoutTransaction { try GroupWriter($0, sealing: sealing, folder: folder) }
    }

    func hand(_ call: WriterCall) {
        let (isLate, wakes) = mailbox.withLock { mailbox in
            if mailbox.isClosed { return (true, false) }
            mailbox.calls.append(call)
            if case .close = call { mailbox.isClosed = true }
            defer { mailbox.isRunning = true }
            return (false, !mailbox.isRunning)
        }
        if isLate { thread.async { Self.refuse(call) } }
        if wakes { thread.async { [self] in run() } }
    }

    /// Works until nothing is left.
    private func run() {
        while true {
            let calls = mailbox.withLock { mailbox in
                let calls = mailbox.calls
                mailbox.calls = []
                mailbox.isRunning = !calls.isEmpty
                return calls
            }
            if calls.isEmpty { return }
            perform(calls)
        }
    }

    private func perform(_ calls: [WriterCall]) {
        var waiting: [ChangesCall] = []
        for call in calls {
            switch call {
            case .commit(let changes):
                waiting.append(changes)
            case .removeEnded(let time, let limit, let done):
                commit(&waiting)
                done(removeEnded(before: time, limit: limit))
            case .close(let done):
                commit(&waiting)
                close()
                done()
            }
        }
        commit(&waiting)
    }

    // MARK: Changes

    private func commit(_ calls: inout [ChangesCall]) {
        var rest = calls[...]
        while !rest.isEmpty {
            let size = groupSize(rest)
            commitGroup(rest.prefix(size))
            rest = rest.dropFirst(size)
        }
        calls = []
    }

    private func groupSize(_ calls: ArraySlice<ChangesCall>) -> Int {
        var size = 0
        var changeCount = 0
        var byteCount = 0
        for call in calls {
            changeCount += call.changes.count
            byteCount += call.inlineByteCount
            if size > 0, changeCount > limits.changeCountMax || byteCount > limits.byteCountMax { break }
            size += 1
        }
        return size
    }

    private func commitGroup(_ calls: ArraySlice<ChangesCall>) {
        guard let group else { return calls.forEach { $0.done(.failure(StoreHealth.closed)) } }
        let begun = ContinuousClock.now
        let outcome = pool.writeWithoutTransaction { group.commit(calls, $0) }
        // A call without changes only waits for those before it.
        if calls.contains(where: { !$0.changes.isEmpty }) { commitTimes.add(.now - begun) }
        health.note(outcome.results)
        for (call, result) in zip(calls, outcome.results) { call.done(result) }
        spool.remove(outcome.released)
    }

    // MARK: History

    private func removeEnded(before time: Timestamp, limit: Int) -> Result<Int, StoreFailure> {
        guard group != nil else { return .failure(StoreHealth.closed) }
        do {
            let removal = try pool.write { try EndedRemoval.remove(before: time, limit: limit, $0) }
            spool.remove(removal.bodies)
            // Removed data is still in the log; nothing else would overwrite it before the next burst.
            if removal.count > 0 { releaseSpace() }
            if removal.count > 0, removal.isComplete { truncateLog() }
            return .success(removal.count)
        } catch {
            let failure = StoreError(error).failure(in: folder)
            health.note(failure)
            return .failure(failure)
        }
    }

    /// Free pages that stay for new tickets. Default: 4096, which are 16 MiB.
    private static let sparePageCount = 4096
    /// Most free pages that are given back at once. Default: 512, which are 2 MiB.
    private static let releasedPageCount = 512

    /// Gives free pages back to the file system, in a database that was made for it (`auto_vacuum`).
    private func releaseSpace() {
        _ = try? pool.writeWithoutTransaction { db in
            let free = try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
            let count = min(free - Self.sparePageCount, Self.releasedPageCount)
            if count > 0 { try db.execute(sql: "PRAGMA incremental_vacuum(\(count))") }
        }
    }

    private func truncateLog() {
        // A reader may be in the way; then it is for another time.
        _ = try? pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
    }

    // MARK: End

    private func close() {
        group = nil
        truncateLog()
        do { try pool.close() } catch {
            logger.warning("closing the store failed", metadata: ["error": "\(StoreError(error).text)"])
        }
        spool.finish()
    }

    private static func refuse(_ call: WriterCall) {
        switch call {
        case .commit(let changes): changes.done(.failure(StoreHealth.closed))
        case .removeEnded(_, _, let done): done(.failure(StoreHealth.closed))
        case .close(let done): done()
        }
    }
}

/// A call to the writer.
enum WriterCall: Sendable {
    case commit(ChangesCall)
    case removeEnded(before: Timestamp, limit: Int, done: @Sendable (Result<Int, StoreFailure>) -> Void)
    case close(done: @Sendable () -> Void)
}

/// Changes that are committed all or none.
struct ChangesCall: Sendable {
    var changes: [StoreChange]
    var done: @Sendable (Result<[StoreResult], StoreFailure>) -> Void

    /// Whether the call makes the database bigger. A call that does not may still succeed on a full disk, and free space.
    var needsRoom: Bool {
        changes.contains {
            switch $0 {
            case .insert, .delivered: true
            case .update, .started, .lateEvidence, .dropResponse, .forgetKey, .seen: false
            }
        }
    }

    var inlineByteCount: Int {
        changes.reduce(0) { sum, change in
            switch change {
            case .insert(_, let request, _): sum + Self.inlineByteCount(request.body)
            case .delivered(_, let response): sum + Self.inlineByteCount(response.body)
            case .update, .started, .lateEvidence, .dropResponse, .forgetKey, .seen: sum
            }
        }
    }

    private static func inlineByteCount(_ body: StoredBody) -> Int {
        if case .inline(let bytes) = body { bytes.readableBytes } else { 0 }
    }
}
