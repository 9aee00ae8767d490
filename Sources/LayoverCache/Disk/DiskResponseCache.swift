import GRDB
import LayoverCore
package import LayoverEngine
import LayoverHTTP
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
        /// The removal of responses that exceed the limits of the cache. `again`: more came, so the thread looks once more.
        var tidying = Tidying.no
    }

    enum Tidying { case no, underWay, again }

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

/// Giving what is kept.
extension DiskResponseCache {
    package func lookup(
        _ request: CacheRequest, _ occasion: CacheOccasion, now: Int,
        done: @escaping @Sendable (CacheLookup) -> Void
    ) {
        threads.submit {
            done(self.lookupNow(request, occasion, now: now))
        } orElse: {
            done(.nothing(.lost))
        }
    }

    private func lookupNow(_ request: CacheRequest, _ occasion: CacheOccasion, now: Int) -> CacheLookup {
        let asked = RequestFacts(request)
        guard asked.isCacheable, request.origin.scheme != .tunnel else { return .nothing(.notCacheable) }
        if asked.forbidsCache { return .nothing(.forbidden) }
        let url = CacheURL(origin: request.origin, target: request.target)
        do {
            guard let row = try row(of: url, for: asked) else { return .nothing(.absent) }
            guard now - row.times.answeredAt <= options.ageMax else { return .nothing(.tooStale) }
            return try answer(from: row, to: request, asked, occasion, now: now)
        } catch {
            failed(error)
            return .nothing(.lost)
        }
    }

    private func row(of url: CacheURL, for asked: RequestFacts) throws -> CacheRow? {
        let row = try withDatabase { opened in
            try opened.pool.read { try RowSelection.best(of: url, for: asked, opened.digest, in: $0) }
        }
        guard let row, !isOutdated(row) else { return nil }
        return row
    }

    private func answer(
        from row: CacheRow, to request: CacheRequest, _ asked: RequestFacts, _ occasion: CacheOccasion, now: Int
    ) throws -> CacheLookup {
        let kept = ResponseFacts(status: row.status, head: row.head)
        let age = Freshness.age(initialAge: row.initialAge, answeredAt: row.times.answeredAt, now: now)
        let lifetime = row.freshUntil - row.times.answeredAt + row.initialAge
        let freshFor: Int
        switch ServingRule.verdict(on: kept, lifetime: lifetime, age: age, to: asked, occasion) {
        case .refuse(let miss): return .nothing(miss)
        case .serve(let seconds): freshFor = seconds
        }
        let precondition = Precondition.verdict(on: kept, answeredAt: row.times.answeredAt, to: asked)
        if precondition == .originOnly { return .nothing(.notCacheable) }
        guard let (form, body) = try content(of: row, asked, precondition),
            let head = KeptHead.assembled(row.head, age: age, form)
        else {
            remove { try RowRemoval.of([row.sequence], in: $0) }
            return .nothing(.lost)
        }
        noteUse(of: row, at: now)
        return .found(
            CachedResponse(
                head: head, body: body, age: age, freshFor: freshFor,
                refresh: CacheRefresh(request: request.withoutConditions, key: refreshKey(of: row))))
    }

    /// For the order of eviction. A disk that takes nothing more can still be read from.
    private func noteUse(of row: CacheRow, at now: Int) {
        do {
            try withDatabase { opened in
                try opened.pool.write { try RowUpdate.used(row.sequence, at: now, in: $0) }
            }
        } catch {
            failed(error)
        }
    }

    /// How the row is sent, and its body where one follows; nil if the body is not what it was.
    private func content(
        of row: CacheRow, _ asked: RequestFacts, _ precondition: Precondition.Verdict
    ) throws -> (KeptHead.Form, (any CachedBody)?)? {
        if precondition == .notModified { return (.notModified, nil) }
        if row.method == "HEAD" { return (.headOnly(byteCount: row.statedLength), nil) }
        if asked.isHead { return (.headOnly(byteCount: row.body.byteCount), nil) }
        guard let body = try BodyFile(row.body, in: folder, threads: threads) else { return nil }
        return (.whole(byteCount: row.body.byteCount), row.status == 204 ? nil : body)
    }

    /// The key of a refresh. A row and the row that replaces it have the same key, although their sequences differ.
    private func refreshKey(of row: CacheRow) -> [UInt8] {
        Array("\(row.method) \(row.url.text)".utf8) + [0] + (row.credentials ?? []) + [0] + row.varyDigest
    }
}

extension CacheRequest {
    /// Fields that make a request conditional or ask for a part of the response.
    private static let conditions: Set<String> = [
        "if-none-match", "if-modified-since", "if-match", "if-unmodified-since", "if-range", "range",
    ]

    /// The same request without conditions, for the whole response. `Cache-Control` and `Pragma` are removed, too: they are for the caches
    /// on the way, and may hold `only-if-cached`.
    var withoutConditions: CacheRequest {
        var request = self
        request.fields.removeAll { field in
            let name = field.name.lowercased()
            return Self.conditions.contains(name) || name == "cache-control" || name == "pragma"
        }
        return request
    }
}

/// The times of the last change of URLs, by a request that is not safe. A response to a request from before its URL was changed is neither
/// kept nor given, although a transfer or a removal may still be under way.
struct RecentInvalidations: Sendable {
    /// Most URLs that are remembered one by one. Past that all older responses count as changed. Default: 4096.
    private let countMax: Int

    private var changedAt: [CacheURL: Int] = [:]
    /// Whatever was asked for at this time or before is outdated.
    private var floor = Int.min

    init(countMax: Int = 4096) { self.countMax = countMax }

    /// - Parameter now: Seconds since 1970.
    mutating func changed(_ url: CacheURL, now: Int) {
        if changedAt.count >= countMax, changedAt[url] == nil {
            floor = max(floor, changedAt.values.max() ?? floor)
            changedAt = [:]
        }
        changedAt[url] = max(now, changedAt[url] ?? now)
    }

    /// Whether a response requested at that time may be older than the last change. The same second counts as before it.
    func isOutdated(_ url: CacheURL, requestedAt: Int) -> Bool {
        requestedAt <= floor || changedAt[url].map { requestedAt <= $0 } ?? false
    }
}

/// How much the cache holds. Kept in memory, because it is looked at with every response.
struct CacheTally: Sendable {
    var entryCount = 0
    var byteCount = 0
    /// Bytes of bodies that are not complete yet.
    var arrivingByteCount = 0
    var failure: String?

    /// May come before the word of the insertion, on another thread, so the sums may be below zero for a moment.
    mutating func removed(_ rows: [RemovedRow]) {
        entryCount -= rows.count
        byteCount -= rows.reduce(0) { $0 + $1.byteCount }
    }
}

/// The file and the size of a removed row.
struct RemovedRow: Sendable {
    var file: String?
    var byteCount: Int
}
