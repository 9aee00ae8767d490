import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

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

    /// Without a client there is no decision to ask for, and no stand-in response to give. It waits as long as a client would:
    /// whoever reads the URL after that has it refreshed again.
    static func policy(_ policy: Policy) -> Policy {
        var policy = policy
        policy.onExhausted = .fail
        return policy
    }
}
