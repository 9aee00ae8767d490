import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

/// The store as the recipient of a ticket's response. Confined to its loop.
final class StoreRecipient {
    /// The response that is being kept.
    private var capture: ResponseCapture?
    private var begun: ResponsePart?

    func begin(_ head: ResponseHead, of exchange: Exchange) {
        exchange.loop.cache?.outdate(head, exchange)
        let capture = ResponseCapture(head, loop: exchange.loop) { [weak exchange] count in exchange?.run.taken(count) }
        self.capture = capture
        begun = ResponsePart(head)
        let loop = exchange.loop.eventLoop
        // Not within the event of the attempt that it ends.
        let endSoon = { [weak exchange, weak self, weak capture] in
            let bound = NIOLoopBound((exchange, self, capture), eventLoop: loop)
            loop.execute {
                let (exchange, recipient, capture) = bound.value
                if let exchange, let capture { recipient?.endAttempt(of: exchange, capture) }
            }
        }
        if capture.isLost { endSoon() } else { capture.whenLost = endSoon }
    }

    /// The body cannot be kept, so the rest of it is not asked for. The head counts: the origin did its work.
    private func endAttempt(of exchange: Exchange, _ lost: ResponseCapture) {
        guard capture === lost, exchange.phase == .delivering, exchange.entry != nil else { return }
        exchange.run.cancel()
        exchange.ticketDelivered(lost.withoutBody())
    }

    /// - Returns: How many bytes count as taken now. The capture itself reports the other bytes when it has them.
    func receive(_ bytes: ByteBuffer) -> Int {
        guard let capture else { return bytes.readableBytes }
        capture.append(bytes)
        begun?.came(bytes.readableBytes)
        return 0
    }

    /// The part that has come of a response that can be resumed. Nil too if the body is lost for other reasons: no rest is needed then.
    var part: ResponsePart? { capture?.isLost == false ? begun : nil }

    /// Discards the part of a response that broke off.
    func discard() {
        capture = nil
        begun = nil
    }

    /// All of the response has come.
    func finish(for exchange: Exchange) {
        guard exchange.phase == .delivering, let capture, let id = exchange.entry else { return }
        capture.finish(as: "\(id).answer") { stored in
            // The entry may have come to its end while the response was being kept.
            if exchange.phase == .delivering { exchange.ticketDelivered(stored) } else { capture.discard() }
        }
    }

    /// The response broke off, and may not be asked for again: what is known is kept.
    func finish(for exchange: Exchange, brokenBy failure: Failure) {
        guard let capture else { return exchange.ended(as: .failed, failure: failure) }
        exchange.ticketDelivered(capture.withoutBody(), brokenBy: failure)
    }
}

extension ResponseCache {
    /// Responses that a ticket has outdated are not read from the cache any more (RFC 9111 section 4.4). Its own response is not kept.
    fileprivate func outdate(_ head: ResponseHead, _ exchange: Exchange) {
        let request = exchange.request
        guard !RequestMethod.isSafe(request.method) else { return }
        let now = exchange.loop.wallSeconds
        answered(head, to: request.cacheRequest, at: CacheTimes(requestedAt: now, answeredAt: now))?.abandon()
    }
}
