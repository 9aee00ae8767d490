import LayoverCore
import LayoverEngine
import LayoverTestSupport

/// An exchange that keeps what the engine tells it.
final class RecordingExchange: HeldExchange {
    enum Told: Sendable, Hashable {
        case start(AttemptTrigger)
        case abandonConnecting
        case dropResponse
        case deliverResponse(Verdict.DeliverReason)
        case end(EntryEnd, retryAfter: Duration?)
        case offerTicket
        case lookForOthers
        case refuse(String, Int)
    }

    let id: EntryID
    let told = Watched<[Told]>([])

    init(id: EntryID) { self.id = id }

    func start(_ trigger: AttemptTrigger, isForced: Bool) { told.update { $0.append(.start(trigger)) } }
    func abortAttempt(isCommanded: Bool) {}
    func abandonConnecting() { told.update { $0.append(.abandonConnecting) } }
    func dropResponse() { told.update { $0.append(.dropResponse) } }
    func deliverResponse(_ reason: Verdict.DeliverReason) { told.update { $0.append(.deliverResponse(reason)) } }
    func end(_ end: EntryEnd, retryAfter: Duration?) {
        told.update { $0.append(.end(end, retryAfter: retryAfter)) }
    }
    func lookForOthers() { told.update { $0.append(.lookForOthers) } }
    func offerTicket() { told.update { $0.append(.offerTicket) } }
    func refuse(limit: String, value: Int) { told.update { $0.append(.refuse(limit, value)) } }

    /// What it was told since the last time anybody asked.
    func next() -> [Told] {
        let all = told.value
        told.update { $0.removeFirst(all.count) }
        return all
    }
}

/// An event loop that keeps what the engine announces.
final class RecordingLoop: ExchangeLoop {
    enum Told: Sendable, Hashable {
        case announce(Origin, OriginNotice)
        case offline(OfflineTunnels?)
        case networkChanged
        case replay(EntryID, AttemptTrigger)
    }

    let told = Watched<[Told]>([])
    /// What the loop was told of the network as a whole, each time.
    let network = Watched<[NetworkCondition]>([])

    func announce(_ origin: Origin, _ notice: OriginNotice) { told.update { $0.append(.announce(origin, notice)) } }
    func setOffline(_ tunnels: OfflineTunnels?) { told.update { $0.append(.offline(tunnels)) } }
    func setNetwork(_ condition: NetworkCondition) { network.update { $0.append(condition) } }
    func replay(_ replay: TicketReplay) -> (any HeldExchange)? {
        told.update { $0.append(.replay(replay.id, replay.trigger)) }
        return RecordingExchange(id: replay.id)
    }
    func networkChanged() { told.update { $0.append(.networkChanged) } }

    func next() -> [Told] {
        let all = told.value
        told.update { $0.removeFirst(all.count) }
        return all
    }
}
