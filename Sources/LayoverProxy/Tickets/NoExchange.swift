import LayoverCore
import LayoverEngine

/// Stands in where there is nothing to command.
final class NoExchange: HeldExchange {
    func start(_ trigger: AttemptTrigger, isForced: Bool) {}
    func abandonConnecting() {}
    func dropAnswer() {}
    func deliverAnswer(_ reason: Verdict.DeliverReason) {}
    func offerTicket() {}
    func end(_ end: EntryEnd, retryAfter: Duration?) {}
    func refuse(limit: String, value: Int) {}
}
