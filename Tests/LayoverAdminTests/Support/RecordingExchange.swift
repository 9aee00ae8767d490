import LayoverCore
import LayoverEngine
import Synchronization

/// A held exchange that writes down what it is told.
final class RecordingExchange: HeldExchange {
    enum Call: Hashable {
        case start(AttemptTrigger)
        case abandonConnecting
        case abortAttempt
        case dropResponse
        case deliverResponse(Verdict.DeliverReason)
        case end(EntryEnd)
        case refuse(limit: String)
    }

    /// Called at each abort, on the loop of the engine. Default: nothing.
    let whenAborted = Mutex<@Sendable () -> Void>({})
    private let recorded = Mutex<[Call]>([])
    private let body: HeldBody?

    init(body: HeldBody? = nil) { self.body = body }

    var calls: [Call] { recorded.withLock { $0 } }

    func start(_ trigger: AttemptTrigger, isForced: Bool) { record(.start(trigger)) }
    func abandonConnecting() { record(.abandonConnecting) }
    func abortAttempt(isCommanded: Bool) {
        record(.abortAttempt)
        let work = whenAborted.withLock { $0 }
        work()
    }
    func dropResponse() { record(.dropResponse) }
    func deliverResponse(_ reason: Verdict.DeliverReason) { record(.deliverResponse(reason)) }
    func end(_ end: EntryEnd, retryAfter: Duration?) { record(.end(end)) }
    func lookForOthers() {}
    func offerTicket() {}
    func showBody(_ done: @escaping @Sendable (HeldBody?) -> Void) { done(body) }
    func refuse(limit: String, value: Int) { record(.refuse(limit: limit)) }

    private func record(_ call: Call) { recorded.withLock { $0.append(call) } }
}
