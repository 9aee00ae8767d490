import GRDB
package import LayoverEngine
package import Logging
import Synchronization

/// The cache on disk: an index in SQLite and one file for each body.
///
/// Nothing here is consulted while all is well: `answered` only computes and hands on, and memory holds sums, recent
/// changes and claims, no index. All else happens on threads of its own.
package final class DiskResponseCache: ResponseCache {
    struct State {
        var tally = CacheTally()
        var invalidations = RecentInvalidations()
        var refreshes: Set<[UInt8]> = []
        /// Whether a thread is removing responses that are too many for the limits of the cache.
        var isTidying = false
    }

    let options: CacheOptions
    let folder: CacheFolder
    let threads: CacheThreads
    let logger: Logger
    let state = Mutex(State())
    /// The index. Nil: the cache is closed, or a damaged index could not be replaced.
    let database: Mutex<CacheDatabase?>

    /// Opens the cache. Blocks for as long as reading the index takes. A damaged index is thrown away with a warning.
    ///
    /// - Parameter now: Seconds since 1970.
    /// - Throws: If there can be no cache here: another process has the folder, or the disk takes nothing.
    package init(options: CacheOptions, logger: Logger, now: Int, threadCount: Int = 2) throws {
        self.options = options
        self.logger = logger
        folder = try CacheFolder(path: options.folder)
        database = Mutex(try Self.open(options, logger))
        threads = CacheThreads(count: threadCount)
        try countAll()
        // Read before anybody can write: a body that is on its way must not be swept away.
        let found = folder.names()
        threads.submit {
            self.sweep(found)
            self.tidy(now: now)
        }
    }

    private static func open(_ options: CacheOptions, _ logger: Logger) throws -> CacheDatabase {
        do {
            return try CacheDatabase(path: options.path)
        } catch where CacheDatabase.isDamaged(error) || CacheDatabase.isForeign(error) {
            logger.warning(
                "The cache is damaged and is recreated.",
                metadata: ["file": "\(options.path)", "error": "\(error)"])
            CacheDatabase.remove(path: options.path)
            return try CacheDatabase(path: options.path)
        }
    }

    /// Does something with the index, on the caller's thread. An index that proves damaged is made anew.
    func withDatabase<Result>(_ work: (CacheDatabase) throws -> Result) throws -> Result {
        guard let opened = database.withLock({ $0 }) else {
            throw CacheError(.closed, "The cache is closed.")
        }
        do {
            return try work(opened)
        } catch where CacheDatabase.isDamaged(error) {
            replace(opened, after: error)
            throw error
        }
    }

    // Several threads may find the damage; the first one repairs it.
    private func replace(_ damaged: CacheDatabase, after error: any Error) {
        database.withLock { current in
            guard current?.pool === damaged.pool else { return }
            logger.warning(
                "The cache is damaged and is recreated.",
                metadata: ["file": "\(options.path)", "error": "\(error)"])
            try? damaged.pool.close()
            CacheDatabase.remove(path: options.path)
            current = try? CacheDatabase(path: options.path)
        }
        state.withLock { state in
            state.tally.entryCount = 0
            state.tally.byteCount = 0
        }
        folder.remove(folder.names())
    }

    /// Remembers a failure for `usage`, and logs the first one of several in a row.
    func failed(_ error: any Error) {
        let text = "\(error)"
        let isNew = state.withLock { state in
            defer { state.tally.failure = text }
            return state.tally.failure == nil
        }
        if isNew { logger.warning("The cache cannot store responses.", metadata: ["error": "\(text)"]) }
    }

    func worked() {
        state.withLock { $0.tally.failure = nil }
    }

    package var usage: CacheUsage {
        let tally = state.withLock { $0.tally }
        return CacheUsage(
            entryCount: max(0, tally.entryCount), entryCountMax: options.entryCountMax,
            byteCount: max(0, tally.byteCount), byteCountMax: options.byteCountMax, failure: tally.failure)
    }

    package func close() async {
        await threads.close()
        database.withLock { opened in
            try? opened?.pool.close()
            opened = nil
        }
        folder.release()
    }

    // MARK: Refreshes

    package func claimRefresh(_ refresh: CacheRefresh) -> Bool {
        state.withLock { state in
            guard state.refreshes.count < options.refreshCountMax else { return false }
            return state.refreshes.insert(refresh.key).inserted
        }
    }

    package func refreshEnded(_ refresh: CacheRefresh) {
        state.withLock { _ = $0.refreshes.remove(refresh.key) }
    }
}
