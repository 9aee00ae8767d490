import LayoverCore
import LayoverEngine
import Logging
import NIOCore

/// How a ticket's exchange comes by its request.
extension TicketExchange {
    /// One that the engine wants to be sent: its request is in the store.
    convenience init(loop: ProxyLoop, replay: TicketReplay, store: any PendingStore) {
        self.init(
            loop: loop, id: replay.id,
            machine: ExchangeMachine(
                for: .store, AttemptRules(policy: replay.policy, counts: replay.counts, isTicket: true), phase: .parked),
            route: replay.route, wish: replay.wish, hasIdempotencyKey: replay.hasIdempotencyKey,
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
        guard phase == .parked else { return }
        switch result {
        case .ready(let stored, let body):
            request = upstreamRequest(stored, body, route: replay.route)
            // A reload may have come while it was read.
            reroute()
            begin(replay.trigger, isForced: replay.isForced)
        case .unreadable(let failure):
            unready(failure)
        case .rejected(let failure):
            phase = .ended
            loop.logger.warning(
                "ticket cannot be sent; a person must decide",
                metadata: ["ticket": "\(loop.engine.naming.shown(id))", "reason": "\(MaskedTicketIDs.text(failure.message))"])
            loop.engine.post(.refusedToSend(id, .rejected, failure, takeTally()))
            loop.closed(self)
        }
    }

    /// Finds its route in a configuration that was read anew. What is under way goes on; what follows it is new.
    func reroute() {
        guard let request else { return }
        let found = loop.planner.reroute(request, by: route, wish: wish)
        route = found.route
        rules.policy = found.policy
        let mayBeSentTwice = summary.mayBeSentTwice
        self.request?.mayBeSentTwice = mayBeSentTwice
    }

    func begin(_ trigger: AttemptTrigger, isForced: Bool) {
        guard isForced || rules.mayBeSent(summary) else { return refuseToSend() }
        rules.hasTriedNewConnection = false
        if let preflight = rules.policy.preflight, !skipsPreflight {
            startPreflight(preflight, trigger)
        } else {
            startAttempt(trigger, onNewConnection: trigger == .canary)
        }
    }

    /// A reload has taken back the word that it may be sent twice, and the engine had not heard of that yet.
    private func refuseToSend() {
        phase = isStored ? .ended : .parked
        loop.engine.post(.refusedToSend(id, .maybeApplied, nil, takeTally()))
        if isStored { loop.closed(self) }
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
            body: body, mayBeSentTwice: false, timeouts: loop.planner.timeouts(of: route),
            allowAddresses: route?.allowAddresses ?? [])
        request.takeFields(of: route)
        return request
    }
}
