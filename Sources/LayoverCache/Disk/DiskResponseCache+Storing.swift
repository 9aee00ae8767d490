import Foundation
import GRDB
import LayoverCore
package import LayoverEngine
package import LayoverHTTP
import NIOCore
import Synchronization

/// What comes of the origin's responses.
extension DiskResponseCache {
    package func answered(
        _ head: ResponseHead, to request: CacheRequest, at times: CacheTimes
    ) -> (any ResponseWriter)? {
        guard request.origin.scheme != .tunnel else { return nil }
        let asked = RequestFacts(request)
        let response = ResponseFacts(head)
        let url = CacheURL(origin: request.origin, target: request.target)
        let outdated = InvalidationRule.outdated(by: response, to: asked, for: url)
        if !outdated.isEmpty { invalidate(outdated, at: times.answeredAt) }
        switch StoringRule.verdict(on: response, framing: head.framing, to: asked) {
        case .pass: return nil
        case .renew:
            renew(url, by: head, response, to: asked, at: times)
            return nil
        case .drop:
            drop(url, for: asked, requestedBefore: times.requestedAt)
            return nil
        case .keep: break
        }
        let row: CacheRow
        do {
            guard let made = try self.row(for: head, response, url, asked, times) else { return nil }
            row = made
        } catch {
            failed(error)
            return nil
        }
        let announced = announced(head)
        if let announced, announced > options.responseByteCountMax { return nil }
        return DiskResponseWriter(row: row, announced: announced, cache: self)
    }

    /// How long the body will be; nil if only its end will tell.
    private func announced(_ head: ResponseHead) -> Int? {
        switch head.framing {
        case .none: 0
        case .length(let count): count
        case .chunked, .untilClose: nil
        }
    }

    private func row(
        for head: ResponseHead, _ response: ResponseFacts, _ url: CacheURL, _ asked: RequestFacts, _ times: CacheTimes
    ) throws -> CacheRow? {
        guard let digest = database.withLock({ $0?.digest }), let vary = VarySelection(response) else { return nil }
        let initialAge = Freshness.initialAge(of: response, at: times)
        return try CacheRow(
            url: url, method: asked.method, status: response.status,
            head: KeptHead.make(of: response, bytes: head.bytes),
            statedLength: asked.isHead ? head.contentLength : nil,
            credentials: response.isForEveryone ? nil : Credentials.canonical(of: asked).map { try digest($0) },
            isForEveryone: response.isForEveryone, varyNames: vary.names,
            varyDigest: digest(vary.canonical(of: asked)), times: times, initialAge: initialAge,
            date: response.date("date", now: times.answeredAt) ?? times.answeredAt,
            freshUntil: times.answeredAt - initialAge
                + Freshness.lifetime(of: response, answeredAt: times.answeredAt),
            usedAt: times.answeredAt, contentType: response.fields.text("content-type"),
            body: KeptBody(file: nil, byteCount: 0, digest: []))
    }

    /// Puts a complete response into the index, in the place of the ones it replaces. On a thread of the cache.
    func insert(_ row: CacheRow) {
        do {
            let (removed, isKept) = try withDatabase { opened in
                try opened.pool.write { database -> ([RemovedRow], Bool) in
                    // Asked inside the transaction: a removal that comes later finds the row.
                    if self.isOutdated(row) { return ([], false) }
                    var removed = try RowRemoval.replaced(by: row, in: database)
                    try database.execute(
                        sql: "INSERT INTO answer (\(CacheRow.columns)) VALUES (\(CacheRow.placeholders))",
                        arguments: row.arguments)
                    removed += try RowRemoval.variants(of: row.url, beyond: self.options.variantCountMax, in: database)
                    return (removed, true)
                }
            }
            folder.remove(removed.map(\.file))
            guard isKept else { return folder.remove([row.body.file]) }
            state.withLock { state in
                state.tally.removed(removed)
                state.tally.entryCount += 1
                state.tally.byteCount += row.byteCount
            }
            worked()
            tidy(now: row.times.answeredAt)
        } catch {
            folder.remove([row.body.file])
            failed(error)
        }
    }

    func isOutdated(_ row: CacheRow) -> Bool {
        state.withLock { $0.invalidations.isOutdated(row.url, requestedAt: row.times.requestedAt) }
    }

    /// Remembers at once, so that no reader is given what was changed, and removes soon.
    private func invalidate(_ urls: [CacheURL], at now: Int) {
        state.withLock { state in
            for url in urls { state.invalidations.changed(url, now: now) }
        }
        threads.submit {
            for url in urls {
                self.remove { try RowRemoval.of(url, requestedUntil: now, in: $0) }
            }
        }
    }

    /// The origin has said that what this request would be given is outdated.
    private func drop(_ url: CacheURL, for asked: RequestFacts, requestedBefore: Int) {
        threads.submit {
            self.remove { opened, database in
                let rows = try RowSelection.rows(of: url, in: database).filter {
                    try $0.times.requestedAt <= requestedBefore && RowSelection.matches($0, asked, opened.digest)
                }
                return try RowRemoval.of(rows.map(\.sequence), in: database)
            }
        }
    }

    /// Removes rows, and after the commit their files.
    func remove(_ work: @escaping (Database) throws -> [RemovedRow]) {
        remove { _, database in try work(database) }
    }

    private func remove(_ work: (CacheDatabase, Database) throws -> [RemovedRow]) {
        do { _ = try removed(work) } catch { failed(error) }
    }

    /// Removes rows in one transaction, and after the commit their files.
    ///
    /// - Returns: How many rows were removed.
    func removed(_ work: (CacheDatabase, Database) throws -> [RemovedRow]) throws -> Int {
        let rows = try withDatabase { opened in
            try opened.pool.write { try work(opened, $0) }
        }
        folder.remove(rows.map(\.file))
        state.withLock { $0.tally.removed(rows) }
        return rows.count
    }

    /// The origin confirmed what its client has: if that is what is kept, it is as good as new (section 4.3.4).
    private func renew(
        _ url: CacheURL, by head: ResponseHead, _ response: ResponseFacts, to asked: RequestFacts, at times: CacheTimes
    ) {
        threads.submit {
            self.remove { opened, database in
                guard
                    var row = try RowSelection.best(of: url, for: asked, opened.digest, in: database),
                    row.times.requestedAt <= times.requestedAt,
                    let kept = KeptHead.renewed(row.head, by: response, bytes: head.bytes)
                else { return [] }
                let renewed = ResponseFacts(status: row.status, head: kept)
                if renewed.directives.has("no-store") || renewed.directives.isUnqualified("no-cache") {
                    return try RowRemoval.of([row.sequence], in: database)
                }
                let growth = kept.readableBytes - row.head.readableBytes
                row.head = kept
                row.times = times
                row.initialAge = Freshness.initialAge(of: response, at: times)
                row.date = response.date("date", now: times.answeredAt) ?? times.answeredAt
                row.freshUntil =
                    times.answeredAt - row.initialAge
                    + Freshness.lifetime(of: renewed, answeredAt: times.answeredAt)
                row.usedAt = times.answeredAt
                try RowUpdate.renew(row, in: database)
                self.state.withLock { $0.tally.byteCount += growth }
                return []
            }
        }
    }
}
