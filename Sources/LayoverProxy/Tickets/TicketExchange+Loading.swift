import LayoverCore
import LayoverEngine
import Logging
import NIOCore

/// How a ticket's exchange comes by its request.
extension TicketExchange {
    /// One that the engine wants to be sent: its request is in the store.
    convenience init(loop: ProxyLoop, replay: TicketReplay, store: any PendingStore) {
        self.init(
            loop: loop, id: replay.id, rules: Exchange(policy: replay.policy, counts: replay.counts, isTicket: true),
            isRepeatable: replay.isRepeatable, hasIdempotencyKey: replay.hasIdempotencyKey,
            mark: AttemptMark(engine: loop.engine, id: replay.id), skipsPreflight: replay.skipsPreflight)
        read(replay, from: store)
    }

    private func read(_ replay: TicketReplay, from store: any PendingStore) {
        Task { [self] in
            let result = await TicketReading(
                store: store, replay: replay, limits: loop.rules.body, spool: loop.spool
            ).read()
            loop.eventLoop.execute { self.wasRead(result, replay) }
        }
    }

    private func wasRead(_ result: TicketReading.Result, _ replay: TicketReplay) {
        guard phase == .resting else { return }
        switch result {
        case .ready(let stored, let body):
            request = upstreamRequest(stored, body, route: replay.route)
            begin(replay.trigger)
        case .unreadable(let failure):
            unready(failure)
        case .rejected(let failure):
            phase = .done
            loop.logger.warning(
                "a ticket cannot be sent as it is; a person decides",
                metadata: ["ticket": "\(id)", "reason": "\(failure.message)"])
            loop.engine.post(.ticketRefused(id, .rejected, failure, takeTally()))
            loop.closed(self)
        }
    }

    func begin(_ trigger: AttemptTrigger) {
        rules.hasTriedNewConnection = false
        if let preflight = rules.policy.preflight, !skipsPreflight {
            askFirst(preflight, trigger)
        } else {
            startAttempt(trigger, onNewConnection: trigger == .canary)
        }
    }

    private func upstreamRequest(
        _ stored: StoredRequest, _ body: CapturedBody?, route name: String?
    ) -> UpstreamRequest {
        let route = name.flatMap { loop.rules.routes.route(named: $0) }
        var framing = UpstreamRequest.BodyFraming.none
        if stored.hasBody {
            framing = stored.trailers == nil ? .length(stored.body.byteCount) : .chunked
        }
        var request = UpstreamRequest(
            purpose: .transfer, origin: stored.origin, method: stored.method, target: stored.target,
            host: stored.host, fields: stored.fields, framing: framing,
            body: body, mayBeSentTwice: isRepeatable, timeouts: loop.planner.timeouts(of: route),
            allowAddresses: route?.allowAddresses ?? [])
        request.takeFields(of: route)
        return request
    }
}
