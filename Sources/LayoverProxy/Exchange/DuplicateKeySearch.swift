import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

/// The search for another request with the same `Idempotency-Key`. The key is reserved before the first attempt, so that of equal
/// requests one goes, also where they come at the same time. What follows is decided by the core, and done by the exchange.
///
/// Confined to the loop of its exchange.
final class DuplicateKeySearch {
    private let loop: ProxyLoop
    private let claim: KeyClaim
    /// The outcome of the request with this payload, once it is there.
    var given: (outcome: KeyOutcome, payload: [UInt8])?
    /// Ends the wait for the outcome of an equal request, or for the store.
    private var timer: Scheduled<Void>?
    /// Why the store could not be searched for the key, the last time.
    var storeFailure: StoreFailure?
    /// The exchange, until the engine has decided: a request that is accepted at once is so though its client leaves meanwhile.
    var kept: Exchange?

    init(_ loop: ProxyLoop) {
        self.loop = loop
        claim = KeyClaim(engine: loop.engine)
    }

    /// - Parameter isInserted: Whether the store inserts the request before it is sent.
    func begin(_ digest: PayloadDigest, isComplete: Bool, isInserted: Bool, by exchange: Exchange) {
        if isInserted { kept = exchange }
        claim.ask(key: digest.key, payload: isComplete ? digest.mark.payload : nil, isInserted: isInserted, by: exchange)
    }

    /// The request is complete.
    func completed(payload: [UInt8]) { claim.completed(payload: payload) }

    /// The client has waited as long as it wants.
    func waitEnded() { claim.waitEnded() }

    /// The client is gone, and the response goes on only if others wait for it: the engine says whether any do.
    func clientLeft() { claim.clientLeft() }

    /// The client is gone, and the time of the entry is over.
    func lookForOthers(of id: EntryID) { claim.lookForOthers(of: id) }

    /// Once; later calls do nothing.
    func end(_ outcome: KeyOutcome?) {
        stopTimer()
        claim.end(outcome)
    }

    func startTimer(_ time: Duration, then isOver: @escaping @Sendable () -> Void) {
        timer = loop.eventLoop.scheduleTask(in: TimeAmount(time), isOver)
    }

    func stopTimer() { timer?.cancel() }
}

extension KeyOutcome {
    init(_ response: OwnResponse) {
        self = .own(status: response.status, fields: response.fields, body: response.body)
    }
}
