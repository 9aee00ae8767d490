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
