import LayoverCore
import LayoverEngine
import LayoverTestSupport

/// An exchange that keeps what the engine tells it.
final class RecordingExchange: HeldExchange {
    enum Told: Sendable, Hashable {
        case start(AttemptTrigger)
        case abandonConnecting
        case end(EntryEnd, retryAfter: Duration?)
        case refuse(String, Int)
    }

    let id: EntryID
    let told = Watched<[Told]>([])

    init(id: EntryID) { self.id = id }

    func start(_ trigger: AttemptTrigger) { told.update { $0.append(.start(trigger)) } }
    func abandonConnecting() { told.update { $0.append(.abandonConnecting) } }
    func end(_ end: EntryEnd, retryAfter: Duration?) {
        told.update { $0.append(.end(end, retryAfter: retryAfter)) }
    }
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
        case offline(Bool)
        case networkChanged
    }

    let told = Watched<[Told]>([])

    func announce(_ origin: Origin, _ notice: OriginNotice) { told.update { $0.append(.announce(origin, notice)) } }
    func setOffline(_ isOffline: Bool) { told.update { $0.append(.offline(isOffline)) } }
    func networkChanged() { told.update { $0.append(.networkChanged) } }

    func next() -> [Told] {
        let all = told.value
        told.update { $0.removeFirst(all.count) }
        return all
    }
}
