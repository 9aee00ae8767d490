import LayoverCore
import LayoverEngine
import LayoverHTTP
import Logging
import NIOCore

/// How the exchange of a ticket comes by its request, which is in the store. Confined to its loop.
struct TicketLoading {
    private let exchange: Exchange
    private let replay: TicketReplay
    private var loop: ProxyLoop { exchange.loop }

    /// Makes the exchange of a ticket and reads its request. Then the attempt begins.
    static func begin(_ replay: TicketReplay, from store: any PendingStore, on loop: ProxyLoop) -> Exchange {
        let exchange = Exchange(
            loop: loop,
            UpstreamRequest(
                purpose: .transfer, origin: replay.request.origin, method: replay.request.method, target: "", host: "", fields: [:],
                mayBeSentTwice: false),
            ExchangeMachine(
                for: .store(.stored), AttemptRules(policy: replay.policy, counts: replay.counts), phase: .loading),
            for: .store(StoreRecipient()), route: replay.route, routesNumber: replay.routes.number, wish: replay.ticket.wish,
            hasIdempotencyKey: replay.request.hasIdempotencyKey, entry: replay.id, skipsPreflight: replay.skipsPreflight)
        loop.opened(exchange)
        Task {
            let result = await TicketReading(
                store: store, replay: replay, limits: loop.configuration.body, spool: loop.spool
            ).read()
            loop.eventLoop.execute { TicketLoading(exchange: exchange, replay: replay).ended(result) }
        }
        return exchange
    }

    private func ended(_ result: TicketReading.Result) {
        guard exchange.phase == .loading else { return }
        switch result {
        case .ready(let stored, let body):
            guard let request = request(stored, body) else {
                return exchange.ended(as: .failed, failure: .webhookGone)
            }
            exchange.requestWasRead(request, replay.trigger, isForced: replay.isForced)
        case .unreadable(let failure):
            exchange.couldNotStart(failure)
        case .rejected(let failure):
            loop.logger.warning(
                "ticket cannot be sent; a person must decide",
                metadata: [
                    "ticket": "\(loop.engine.naming.shown(replay.id))", "reason": "\(MaskedTicketIDs.text(failure.message))",
                ])
            exchange.refusedToSend(.rejected, failure)
        }
    }

    /// The stored request, ready to be sent. Nil: it is a notification whose webhook is gone, or which could not be signed.
    private func request(_ stored: StoredRequest, _ body: CapturedBody?) -> UpstreamRequest? {
        // The engine may have found another route for it since the attempt was planned.
        let routes = exchange.routesWhileReading ?? replay.routes
        let route = exchange.route.flatMap { routes.route(named: $0) }
        var framing = BodyFraming.none
        if stored.hasBody { framing = stored.trailers == nil ? .length(stored.body.byteCount) : .chunked }
        var request = UpstreamRequest(
            purpose: .transfer, origin: stored.origin, method: stored.method, target: stored.target, host: stored.host,
            fields: stored.fields, framing: framing, body: body, mayBeSentTwice: false,
            timeouts: loop.planner.timeouts(of: route, isTicket: true), allowAddresses: route?.allowAddresses ?? [],
            supportsHTTP2: route?.supportsHTTP2 ?? false)
        // The engine counts the attempt at this one, whatever a reload has named since.
        request.parentProxy = replay.routes.parentProxy(for: stored.origin, route: replay.route)
        request.takeFields(of: route)
        guard stored.isNotification else { return request }
        guard let webhook = route?.webhook else { return nil }
        return WebhookRequest.address(&request, to: webhook, stored.body, at: loop.wallSeconds) ? request : nil
    }
}
