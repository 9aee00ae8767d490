import GRDB
import LayoverCore
package import LayoverEngine
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

    /// Removes responses that are too old or too many. One thread does so at a time. Another thread does not wait for it: the first thread
    /// looks once more.
    func tidy(now: Int) {
        let isMine = state.withLock { state in
            defer { state.tidying = state.tidying == .no ? .underWay : .again }
            return state.tidying == .no
        }
        guard isMine else { return }
        var isWantedAgain = true
        while isWantedAgain {
            do {
                while try removeStep(now: now) {}
            } catch {
                failed(error)
            }
            isWantedAgain = state.withLock { state in
                defer { state.tidying = state.tidying == .again ? .underWay : .no }
                return state.tidying == .again
            }
        }
    }

    /// - Returns: Whether there may be more to remove.
    private func removeStep(now: Int) throws -> Bool {
        let isTooMuch = state.withLock { state in
            state.tally.entryCount > options.entryCountMax || state.tally.byteCount > options.byteCountMax
        }
        let count = try removed { _, database in
            let old = try RowRemoval.older(than: now - self.options.ageMax, count: self.options.stepCount, in: database)
            guard isTooMuch, old.isEmpty else { return old }
            return try RowRemoval.leastRecentlyUsed(count: self.evictionCount, in: database)
        }
        return count > 0
    }

    /// Responses that the next step of eviction removes. Too many responses: the surplus, at most `stepCount`. Only too many bytes: one.
    private var evictionCount: Int {
        state.withLock { state in
            let surplus = state.tally.entryCount - options.entryCountMax
            return surplus > 0 ? min(surplus, options.stepCount) : 1
        }
    }
}

/// For people: lists kept responses and removes them.
extension DiskResponseCache {
    package func list(_ selection: CacheSelection, before: Int64?, limit: Int) async throws -> [CachedFacts] {
        try await onThread {
            try self.withDatabase { opened in
                try opened.pool.read { database in
                    let (condition, arguments) = Self.condition(selection)
                    return try Row.fetchAll(
                        database,
                        sql: """
                            SELECT sequence, \(CacheRow.columns) FROM answer WHERE \(condition) AND sequence < ?
                            ORDER BY sequence DESC LIMIT ?
                            """,
                        arguments: arguments + [before ?? .max, max(0, limit)]
                    ).compactMap { CacheRow($0) }.map { CachedFacts($0) }
                }
            }
        }
    }

    package func purge(_ selection: CacheSelection) async throws -> Int {
        try await onThread { try self.purgeNow(selection) }
    }

    private func purgeNow(_ selection: CacheSelection) throws -> Int {
        let (condition, arguments) = Self.condition(selection)
        // Responses that come in meanwhile stay: otherwise the removal might never end.
        let last = try withDatabase { opened in
            try opened.pool.read { try Int64.fetchOne($0, sql: "SELECT MAX(sequence) FROM answer") ?? 0 }
        }
        var count = 0
        while true {
            let removedCount = try removed { _, database in
                try RowRemoval.some(
                    of: "\(condition) AND sequence <= ?", arguments + [last], count: self.options.stepCount, in: database)
            }
            count += removedCount
            if removedCount == 0 { break }
        }
        // The log still has the old pages.
        try withDatabase { opened in
            _ = try opened.pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        }
        return count
    }

    private static func condition(_ selection: CacheSelection) -> (String, StatementArguments) {
        switch selection {
        case .all: ("TRUE", [])
        case .host(let host): ("host = ?", [host])
        case .url(let origin, let target): (CacheURL.condition, CacheURL(origin: origin, target: target).arguments)
        }
    }

    private func onThread<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            threads.submit {
                continuation.resume(with: Swift.Result { try work() })
            } orElse: {
                continuation.resume(throwing: CacheError(.closed, "The cache is closed."))
            }
        }
    }
}

extension CachedFacts {
    init(_ row: CacheRow) {
        self.init(
            sequence: row.sequence, method: row.method, origin: row.url.origin, target: row.url.target,
            status: row.status, contentType: row.contentType, byteCount: row.byteCount,
            storedAt: row.times.answeredAt, freshUntil: row.freshUntil, usedAt: row.usedAt,
            isForOneUser: row.credentials != nil)
    }
}
