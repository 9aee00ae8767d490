import Foundation
import GRDB
import LayoverEngine
import LayoverHTTP
import LayoverTestSupport
import Logging
import NIOCore
import Synchronization

@testable import LayoverCache

/// A cache in a folder of its own.
final class CacheBench: Sendable {
    let folder: TemporaryFolder
    let options: CacheOptions
    let cache: DiskResponseCache
    private let log: RecordedLog

    /// The level and the message of each line of the log, from warnings on.
    var warnings: [String] { log.lines.value.map { String($0.prefix { $0 != ":" }) } }

    init(in folder: TemporaryFolder? = nil, at now: Int = newYear, _ change: (inout CacheOptions) -> Void = { _ in }) throws {
        self.folder = try folder ?? TemporaryFolder()
        var options = CacheOptions(
            path: self.folder.file("cache.sqlite").path, folder: self.folder.file("cache").path)
        change(&options)
        self.options = options
        var log = RecordedLog()
        log.logLevel = .warning
        self.log = log
        cache = try DiskResponseCache(options: options, logger: log.logger, now: now)
    }

    /// The names of the bodies on disk.
    var files: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: options.folder)) ?? []).sorted()
    }

    /// A response comes and ends; returns when the cache is done with it.
    func store(
        _ request: CacheRequest = .to(), _ status: Int = 200, _ fields: [String] = [], body: String = "hello",
        at seconds: Int = newYear
    ) async {
        let writer = begin(request, status, fields, length: body.utf8.count, at: seconds)
        if request.method != "HEAD" { writer?.append(ByteBuffer(string: body)) }
        writer?.commit()
        await cache.threads.waitUntilIdle()
    }

    func begin(
        _ request: CacheRequest = .to(), _ status: Int = 200, _ fields: [String] = [], length: Int? = 5,
        at seconds: Int = newYear
    ) -> (any ResponseWriter)? {
        let head = ResponseHead.made(
            status, fields + (length == nil ? ["Transfer-Encoding: chunked"] : []), length: length,
            isHead: request.method == "HEAD")
        return cache.answered(head, to: request, at: .at(seconds))
    }

    func lookup(
        _ request: CacheRequest = .to(), _ occasion: CacheOccasion = .unreachable, at now: Int = newYear + 10
    ) async -> CacheLookup {
        await withCheckedContinuation { continuation in
            cache.lookup(request, occasion, now: now) { continuation.resume(returning: $0) }
        }
    }

    func found(
        _ request: CacheRequest = .to(), _ occasion: CacheOccasion = .unreachable, at now: Int = newYear + 10
    ) async -> CachedResponse? {
        guard case .found(let response) = await lookup(request, occasion, at: now) else { return nil }
        return response
    }

    func miss(
        _ request: CacheRequest = .to(), _ occasion: CacheOccasion = .unreachable, at now: Int = newYear + 10
    ) async -> CacheMiss? {
        guard case .nothing(let miss) = await lookup(request, occasion, at: now) else { return nil }
        return miss
    }

    /// The body that a request is given; nil if it is given none.
    func body(_ request: CacheRequest = .to(), at now: Int = newYear + 10) async -> String? {
        guard let body = await found(request, at: now)?.body else { return nil }
        return await body.text()
    }

    /// True if the index in memory agrees with the content on disk.
    func isConsistent() async throws -> Bool {
        await cache.threads.waitUntilIdle()
        let all = try await cache.list(.all, before: nil, limit: 1_000_000)
        let usage = cache.usage
        let known = try cache.withDatabase { opened in
            try opened.pool.read { try String.fetchAll($0, sql: "SELECT file FROM answer WHERE file IS NOT NULL") }
        }
        return usage.entryCount == all.count && usage.byteCount == all.reduce(0) { $0 + $1.byteCount }
            && files == known.sorted() && cache.state.withLock { $0.tally.arrivingByteCount } == 0
    }
}

extension CachedBody {
    func bytes(at offset: Int, count: Int) async -> ByteBuffer? {
        await withCheckedContinuation { continuation in
            read(at: offset, count: count) { continuation.resume(returning: $0) }
        }
    }

    func text() async -> String? { await bytes(at: 0, count: byteCount).map { String(buffer: $0) } }
}
