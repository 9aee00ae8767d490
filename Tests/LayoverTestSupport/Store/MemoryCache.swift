import LayoverCore
package import LayoverEngine
package import LayoverHTTP
import Synchronization

/// A cache that only knows what it was given at first.
package final class MemoryCache: ResponseCache {
    package struct Broken: Error, CustomStringConvertible {
        package var description: String { "the disk is gone" }
    }

    private let kept: Mutex<[CachedFacts]>
    private let isBroken: Bool

    package init(_ kept: [CachedFacts] = [], isBroken: Bool = false) {
        self.kept = Mutex(kept)
        self.isBroken = isBroken
    }

    /// A response of `http://HOST` that was stored at 12:00:SEQUENCE on the first day of 2026, and is fresh for an hour.
    package static func facts(
        _ sequence: Int64, host: String = "shop.example", target: String = "/cart", method: String = "GET",
        freshUntil: Int? = nil
    ) -> CachedFacts {
        let storedAt = 1_767_268_800 + Int(sequence)
        return CachedFacts(
            sequence: sequence, method: method, origin: Origin(scheme: .http, host: host), target: target, status: 200,
            contentType: method == "HEAD" ? nil : "text/plain", byteCount: 100, storedAt: storedAt,
            freshUntil: freshUntil ?? storedAt + 3600, usedAt: storedAt + 60, isForOneUser: method == "HEAD")
    }

    package func list(_ selection: CacheSelection, before: Int64?, limit: Int) async throws -> [CachedFacts] {
        if isBroken { throw Broken() }
        let found = kept.withLock { $0.filter { Self.matches(selection, $0) && $0.sequence < before ?? .max } }
        return Array(found.sorted { $0.sequence > $1.sequence }.prefix(limit))
    }

    package func purge(_ selection: CacheSelection) async throws -> Int {
        if isBroken { throw Broken() }
        return kept.withLock { kept in
            let before = kept.count
            kept.removeAll { Self.matches(selection, $0) }
            return before - kept.count
        }
    }

    private static func matches(_ selection: CacheSelection, _ facts: CachedFacts) -> Bool {
        switch selection {
        case .all: true
        case .host(let host): facts.origin.host == host
        case .url(let origin, let target): facts.origin == origin && facts.target == target
        }
    }

    package var targets: [String] { kept.withLock { $0.map(\.target) } }

    package var usage: CacheUsage {
        kept.withLock { kept in
            CacheUsage(
                entryCount: kept.count, entryCountMax: 1000, byteCount: kept.reduce(0) { $0 + $1.byteCount },
                byteCountMax: 1 << 20, failure: isBroken ? "the disk is gone" : nil)
        }
    }

    package func answered(_ head: ResponseHead, to request: CacheRequest, at times: CacheTimes) -> (any ResponseWriter)? { nil }

    package func lookup(
        _ request: CacheRequest, _ occasion: CacheOccasion, now: Int, done: @escaping @Sendable (CacheLookup) -> Void
    ) {}

    package func claimRefresh(_ refresh: CacheRefresh) -> Bool { false }
    package func refreshEnded(_ refresh: CacheRefresh) {}
    package func close() async {}
}
