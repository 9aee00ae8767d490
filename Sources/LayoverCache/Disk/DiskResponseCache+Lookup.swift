import GRDB
import LayoverCore
package import LayoverEngine
import LayoverHTTP
import Synchronization

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
