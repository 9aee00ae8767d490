import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

/// The store as the recipient of a ticket's response. Confined to its loop.
final class StoreRecipient {
    /// Whether the store has not taken it as a ticket, and will not.
    private var isRefused = false
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
        deliver(lost.withoutBody(), of: exchange)
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
            if exchange.phase == .delivering { self.deliver(stored, of: exchange) } else { capture.discard() }
        }
    }

    /// The response broke off, and may not be asked for again: what is known is kept.
    func finish(for exchange: Exchange, brokenBy failure: Failure) {
        guard let capture else { return exchange.ended(as: .failed, failure: failure) }
        deliver(capture.withoutBody(), of: exchange, brokenBy: failure)
    }

    private func deliver(_ stored: StoredResponse, of exchange: Exchange, brokenBy failure: Failure? = nil) {
        if isRefused { endSearch(of: exchange) }
        exchange.loop.metrics.countResponse(status: stored.status)
        exchange.machine.ended()
        if let id = exchange.entry { exchange.loop.engine.post(.ticketDelivered(id, stored, failure, exchange.takeTally())) }
        exchange.close()
    }

    // MARK: The acceptance

    /// What came of the ticket that was asked for before the exchange had this recipient.
    func accepted(_ result: AcceptanceResult, _ exchange: Exchange) {
        if let id = result.ticket { exchange.keySearch?.end(.ticket(id)) }
        if case .accepted = result { exchange.machine.ticketWasStored() }
        switch result {
        case .accepted:
            // At rest it needs no exchange.
            if exchange.phase == .parked { exchange.rest() }
        case .refused, .draining, .notStored, .gone:
            isRefused = true
            if exchange.phase == .ended { endSearch(of: exchange) }
        case .duplicate, .keyReused, .unknownParent:
            // Another ticket does the same, or this ticket is not possible. The client is gone, so nobody gets a response.
            guard exchange.phase != .ended else { return endSearch(of: exchange) }
            exchange.forgetOffered()
            exchange.run.cancel()
            exchange.ended(as: .cancelled)
        }
    }

    /// Ends the key search of a request whose response is not kept, because the request became no ticket. The others with its key get a
    /// problem: the request must not be sent again for them.
    private func endSearch(of exchange: Exchange) {
        exchange.keySearch?.end(KeyOutcome(OwnResponse(.responseNotKept, identity: exchange.loop.rules.identity)))
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
