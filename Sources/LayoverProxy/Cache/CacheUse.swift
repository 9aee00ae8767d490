import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

/// The use of the cache by one exchange: reading while the origin cannot be reached (policy `cache: staleIfError`), and keeping
/// the response that is passed on. Confined to its loop.
final class CacheUse {
    private let cache: any ResponseCache
    /// Whether the policy lets the request be answered from the cache.
    let isReadable: Bool
    /// Takes the response that is being passed on.
    private var writer: (any ResponseWriter)?

    /// Nil: the request does not concern the cache. Reading needs the policy. An unsafe method outdates kept responses under any policy.
    init?(_ cache: (any ResponseCache)?, _ request: UpstreamRequest, _ policy: Policy) {
        guard let cache, request.purpose == .transfer else { return nil }
        let isRead = request.method == "GET" || request.method == "HEAD"
        isReadable = isRead && policy.cache == .staleIfError
        guard isReadable || !RequestMethod.isSafe(request.method) else { return nil }
        self.cache = cache
    }

    // MARK: Keeping

    func begin(_ head: ResponseHead, to request: UpstreamRequest, at times: CacheTimes) {
        writer = cache.answered(head, to: request.cacheRequest, at: times)
    }

    func append(_ bytes: ByteBuffer) { writer?.append(bytes) }
    func finish() { writer?.commit() }
    func discard() { writer?.abandon() }

    // MARK: Reading

    /// Searches the cache before any attempt, for a client that accepts only a cached response.
    func lookOnly(for exchange: Exchange) {
        // While the gate is shut, the request gets the same responses as requests without `only-if-cached`.
        let isAway = exchange.notice == .shut
        look(isAway ? .unreachable : .onlyIfCached, for: exchange) {
            exchange.fail(
                Problem(
                    status: 504, kind: "only_if_cached", detail: "The client asks for a cached response, and there is none.",
                    error: .httpRequestDenied))
        }
    }

    /// - Parameter orElse: Called if no usable response is found.
    func look(_ occasion: CacheOccasion, for exchange: Exchange, orElse: @escaping () -> Void) {
        // Called on the loop, where it came from.
        nonisolated(unsafe) let (orElse, use) = (orElse, self)
        cache.lookup(exchange.request.cacheRequest, occasion, now: exchange.loop.wallSeconds) { found in
            exchange.loop.eventLoop.execute {
                guard exchange.phase == .searching(.cache) else { return }
                if case .found(let response) = found { use.serve(response, occasion, for: exchange) } else { orElse() }
            }
        }
    }

    private func serve(_ cached: CachedResponse, _ occasion: CacheOccasion, for exchange: Exchange) {
        exchange.give { client in give(cached, occasion, to: client, of: exchange) }
    }

    private func give(_ cached: CachedResponse, _ occasion: CacheOccasion, to client: ClientRecipient, of exchange: Exchange) {
        let identity = exchange.loop.configuration.identity
        var fields = "Cache-Status: \(cached.cacheStatus(identity: identity))\r\n"
        // A fresh one, too, stands in for an origin that cannot be reached.
        if cached.isStale || occasion == .unreachable {
            let error = exchange.machine.lastFailure?.kind.errorType ?? FailureKind.destinationUnavailable.rawValue
            fields += "Proxy-Status: \(identity); error=\(error); details=\"answered from the cache\"\r\n"
        }
        if cached.isStale { refresh(cached.refresh, for: exchange) }
        client.give(cached, fields: fields) { [weak exchange] in exchange?.ended(as: $0 ? .delivered : .failed) }
    }

    /// Asks the origin anew once it can be reached, so that the next reader gets what is new.
    ///
    /// The request is an entry of the pending set like any other, so that people see it, pacing counts it, and it can be
    /// cancelled. It is not stored: after a restart the next reader asks again.
    private func refresh(_ refresh: CacheRefresh, for exchange: Exchange) {
        guard cache.claimRefresh(refresh) else { return }
        var request = exchange.request
        request.method = refresh.request.method
        request.target = refresh.request.target
        request.fields = refresh.request.fields
        request.framing = .none
        request.body = nil
        request.mayBeSentTwice = Repeatability(method: request.method).mayBeSentTwice
        let failure = exchange.machine.lastFailure
        let refreshing = Exchange(
            loop: exchange.loop, request,
            ExchangeMachine(for: .cache, AttemptRules(policy: exchange.machine.attempts.policy.ofRefresh)),
            for: .cache(CacheRecipient(cache, refresh)), route: exchange.route, routesNumber: exchange.routesNumber,
            wish: exchange.wish)
        exchange.loop.opened(refreshing)
        refreshing.park(
            failure, .init(delay: .zero, shutsGate: failure?.shutsGate ?? false, rule: failure == nil ? .gate : .retryOn))
    }
}
