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
            client.response.begin(head, of: exchange)
        case .store(let store): store.begin(head, of: exchange)
        case .cache(let cache): cache.begin(head, at: exchange.run.cacheTimes)
        }
    }

    /// - Returns: How many bytes count as taken now.
    func receive(_ bytes: ByteBuffer, of exchange: Exchange) -> Int {
        switch self {
        case .client(let client):
            if exchange.phase.isDelivering { exchange.cacheUse?.append(bytes) }
            return client.response.receive(bytes, isDelivering: exchange.phase.isDelivering)
        case .store(let store): return store.receive(bytes)
        case .cache(let cache):
            cache.append(bytes)
            return bytes.readableBytes
        }
    }

    /// All of the response has come, and the request is still on its way to the origin. `finish` or `breakOff` follows.
    func complete(trailers: ByteBuffer?, of exchange: Exchange) {
        // The store and the cache use a response only once its request was sent.
        if case .client(let client) = self, exchange.phase.isDelivering { client.response.complete(trailers: trailers) }
    }

    func finish(trailers: ByteBuffer?, of exchange: Exchange) {
        switch self {
        case .client(let client):
            let wasDelivering = exchange.phase.isDelivering
            exchange.cacheUse?.finish()
            if let shared = client.response.takeShared() { exchange.keySearch?.end(.answer(shared)) }
            exchange.ended(as: client.isGone && !client.response.isDelivered ? .cancelled : .delivered)
            if wasDelivering { client.response.finish(trailers: trailers) }
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
        let route = exchange.route.flatMap { client.loop.rules.routes.route(named: $0) }
        return client.response.takesUnclosedEnd(isAccepted: route?.unclosedTLS == .accept)
    }

    func finishUnclosed(of exchange: Exchange) {
        guard case .client(let client) = self else { return }
        exchange.cacheUse?.discard()
        _ = client.response.takeShared()
        exchange.ended(as: .delivered)
        client.response.finishUnclosed()
    }

    /// Cut off upstream, so cut off downstream: the recipient must not take a part for the whole.
    func breakOff(_ failure: Failure, of exchange: Exchange) {
        switch self {
        case .client(let client):
            exchange.cacheUse?.discard()
            exchange.ended(as: .failed, failure: failure)
            client.response.breakOff()
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
        case .client(let client): client.response.part
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
