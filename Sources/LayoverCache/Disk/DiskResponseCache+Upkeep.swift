import GRDB
import LayoverEngine
import Synchronization

/// Keeping to the limits, in small steps, on a thread of the cache.
extension DiskResponseCache {
    /// Sums up what the index holds.
    func countAll() throws {
        let (count, bytes) = try withDatabase { opened in
            try opened.pool.read { database -> (Int, Int) in
                let row = try Row.fetchOne(database, sql: "SELECT COUNT(*), COALESCE(SUM(byte_count), 0) FROM answer")
                return (
                    row.flatMap { Int.fromDatabaseValue($0[0] as DatabaseValue) } ?? 0,
                    row.flatMap { Int.fromDatabaseValue($0[1] as DatabaseValue) } ?? 0
                )
            }
        }
        state.withLock { state in
            state.tally.entryCount = count
            state.tally.byteCount = bytes
        }
    }

    /// Removes those of the files that no row names: a process that was killed leaves some.
    func sweep(_ found: [String]) {
        do {
            let known = try withDatabase { opened in
                try opened.pool.read {
                    try Set(String.fetchAll($0, sql: "SELECT file FROM answer WHERE file IS NOT NULL"))
                }
            }
            folder.remove(found.filter { !known.contains($0) })
        } catch {
            failed(error)
        }
    }

    /// Removes what is too old or too much. One thread at a time; who comes meanwhile need not wait.
    func tidy(now: Int) {
        let isMine = state.withLock { state in
            defer { state.isTidying = true }
            return !state.isTidying
        }
        guard isMine else { return }
        defer { state.withLock { $0.isTidying = false } }
        do {
            while try removeStep(now: now) {}
        } catch {
            failed(error)
        }
    }

    /// - Returns: Whether there may be more to remove.
    private func removeStep(now: Int) throws -> Bool {
        let isTooMuch = state.withLock { state in
            state.tally.entryCount > options.entryCountMax || state.tally.byteCount > options.byteCountMax
        }
        let removed = try withDatabase { opened in
            try opened.pool.write { database in
                let old = try RowRemoval.older(
                    than: now - self.options.ageMax, count: self.options.stepCount, in: database)
                guard isTooMuch, old.isEmpty else { return old }
                return try RowRemoval.leastRecentlyUsed(count: self.evictionCount, in: database)
            }
        }
        folder.remove(removed.map(\.file))
        state.withLock { $0.tally.removed(removed) }
        return !removed.isEmpty
    }

    /// Responses that the next step of eviction removes. Too many responses: the surplus, at most `stepCount`. Only too many bytes: one.
    private var evictionCount: Int {
        state.withLock { state in
            let surplus = state.tally.entryCount - options.entryCountMax
            return surplus > 0 ? min(surplus, options.stepCount) : 1
        }
    }
}
