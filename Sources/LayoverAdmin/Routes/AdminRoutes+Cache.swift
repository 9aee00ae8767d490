import Hummingbird
import HummingbirdCore
import LayoverEngine

/// Responses kept for reading offline.
extension AdminRoutes {
    func addCacheRoutes(to router: Router<AdminContext>) {
        router.get("/v1/cache") { request, _ in try await listCache(request) }
        router.post("/v1/cache/purge") { request, context in try await purgeCache(request, context) }
    }

    private func listCache(_ request: Request) async throws -> Response {
        let query = try CacheQuery(QueryParameters(request.uri.query, known: CacheQuery.parameterNames))
        let cache = try openedCache()
        // One more than is shown, to know whether there is another page.
        let found = try await readable {
            try await cache.list(query.selection, before: query.before, limit: query.limit + 1)
        }
        let shown = found.prefix(query.limit)
        guard !request.acceptsLines else { return lines(shown.map { CachedResponseDocument($0) }) }
        return try json(
            CacheDocument(
                data: shown.map { CachedResponseDocument($0) }, usage: CacheUsageDocument(cache.usage),
                nextCursor: found.count > shown.count ? shown.last.map { String($0.sequence) } : nil))
    }

    private func purgeCache(_ request: Request, _ context: AdminContext) async throws -> Response {
        try refuseParameters(request)
        guard let order = try await input.document(CachePurgeRequest.self, of: request) else {
            throw CachePurgeRequest.refusal
        }
        let selection = try order.selection()
        context.audit.write { $0.detail = order.names }
        let cache = try openedCache()
        let purged = try await readable { try await cache.purge(selection) }
        context.audit.write { $0.done = purged }
        return try json(CachePurgeDocument(purged: purged))
    }

    private func openedCache() throws(AdminProblem) -> any ResponseCache {
        guard let cache = sources.cache() else { throw .noCache }
        return cache
    }

    /// The disk may fail, or the cache may be closed already because the process is being stopped.
    private func readable<Value>(_ work: () async throws -> Value) async throws(AdminProblem) -> Value {
        do { return try await work() } catch { throw .cache(error) }
    }
}
