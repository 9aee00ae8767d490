import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

/// Where the response of an exchange goes.
enum Recipient {
    case client(ClientRecipient)
    case store(StoreRecipient)
    case cache(CacheRecipient)
}

extension Recipient {
    func begin(_ head: ResponseHead, of exchange: Exchange) {
        switch self {
        case .client(let client):
            exchange.cacheUse?.begin(head, to: exchange.request, at: exchange.run.cacheTimes)
            client.begin(head, of: exchange)
        case .store(let store): store.begin(head, of: exchange)
        case .cache(let cache): cache.begin(head, at: exchange.run.cacheTimes)
        }
    }

    /// - Returns: How many bytes count as taken now.
    func receive(_ bytes: ByteBuffer, of exchange: Exchange) -> Int {
        switch self {
        case .client(let client):
            if exchange.phase.isDelivering { exchange.cacheUse?.append(bytes) }
            return client.receive(bytes, isDelivering: exchange.phase.isDelivering)
        case .store(let store): return store.receive(bytes)
        case .cache(let cache):
            cache.append(bytes)
            return bytes.readableBytes
        }
    }

    /// All of the response has come, and the request is still on its way to the origin. `finish` or `breakOff` follows.
    func complete(trailers: ByteBuffer?, of exchange: Exchange) {
        // The store and the cache use a response only once its request was sent.
        if case .client(let client) = self, exchange.phase.isDelivering { client.complete(trailers: trailers) }
    }

    func finish(trailers: ByteBuffer?, of exchange: Exchange) {
        switch self {
        case .client(let client):
            let wasDelivering = exchange.phase.isDelivering
            exchange.cacheUse?.finish()
            if let shared = client.takeShared() { exchange.keySearch?.end(.answer(shared)) }
            exchange.ended(as: client.isGone && !client.isDelivered ? .cancelled : .delivered)
            if wasDelivering { client.finish(trailers: trailers) }
        case .store(let store): store.finish(for: exchange)
        case .cache(let cache):
            cache.finish()
            exchange.ended(as: .delivered)
        }
    }

    /// True if the client gets a response without a length whose TLS connection ended without close_notify. The client judges itself
    /// whether the response is complete, as without a proxy. The store and the cache never take such a response for complete.
    func takesUnclosedEnd(of exchange: Exchange) -> Bool {
        guard case .client(let client) = self else { return false }
        let route = exchange.route.flatMap { client.loop.configuration.routes.route(named: $0) }
        return client.takesUnclosedEnd(isAccepted: route?.unclosedTLS == .accept)
    }

    func finishUnclosed(of exchange: Exchange) {
        guard case .client(let client) = self else { return }
        exchange.cacheUse?.discard()
        _ = client.takeShared()
        exchange.ended(as: .delivered)
        client.finishUnclosed()
    }

    /// Cut off upstream, so cut off downstream: the recipient must not take a part for the whole.
    func breakOff(_ failure: Failure, of exchange: Exchange) {
        switch self {
        case .client(let client):
            exchange.cacheUse?.discard()
            exchange.ended(as: .failed, failure: failure)
            client.breakOff()
        // The part that has come is kept.
        case .store(let store): store.finish(for: exchange, brokenBy: failure)
        case .cache(let cache):
            cache.discard()
            exchange.ended(as: .failed, failure: failure)
        }
    }

    /// The part of the response that the recipient has; nil if the response cannot be resumed.
    var part: ResponsePart? {
        switch self {
        case .client(let client): client.part
        case .store(let store): store.part
        case .cache(let cache): cache.part
        }
    }

    /// Discards the part of a response that broke off; a client keeps what it got.
    func discard() {
        switch self {
        case .client: break
        case .store(let store): store.discard()
        case .cache(let cache): cache.discard()
        }
    }
}

/// The part of a resumable response that a recipient has: its head, and how much of its body.
struct ResponsePart {
    private let head: ResponseHead
    private var byteCount = 0

    /// Nil: the status is not 200, or the length is unknown.
    init?(_ head: ResponseHead) {
        guard head.status == 200, head.contentLength != nil else { return nil }
        self.head = head
    }

    /// So many bytes more have come.
    mutating func came(_ count: Int) { byteCount += count }

    /// - Parameter now: Seconds since 1970.
    func resumable(to request: ResumableRequest, now: Int) -> ResumableResponse? {
        ResumableResponse(ResumeFacts(head, now: now), to: request, done: byteCount)
    }
}

/// The response that a cache refresh asks for goes into the cache. Confined to its loop.
final class CacheRecipient {
    let cache: any ResponseCache
    let refresh: CacheRefresh
    private var writer: (any ResponseWriter)?
    private(set) var part: ResponsePart?

    init(_ cache: any ResponseCache, _ refresh: CacheRefresh) {
        self.cache = cache
        self.refresh = refresh
    }

    /// The cache decides by the status what becomes of the response.
    func begin(_ head: ResponseHead, at times: CacheTimes) {
        writer = cache.answered(head, to: refresh.request, at: times)
        part = ResponsePart(head)
    }

    func append(_ bytes: ByteBuffer) {
        writer?.append(bytes)
        part?.came(bytes.readableBytes)
    }

    func finish() { writer?.commit() }

    /// The response broke off.
    func discard() {
        writer?.abandon()
        writer = nil
        part = nil
    }

    /// The next reader of a stale response may ask for another refresh.
    func refreshEnded() { cache.refreshEnded(refresh) }
}
