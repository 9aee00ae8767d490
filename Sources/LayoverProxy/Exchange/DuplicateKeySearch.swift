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
    /// The exchange posts what happens to the request under this claim, and `end` ends it.
    let claim: KeyReservations.Claim
    private var hasEnded = false
    /// The outcome of the request with this payload, once it is there.
    var given: (outcome: KeyOutcome, payload: [UInt8])?
    /// Ends the wait for the outcome of an equal request, or for the store.
    private var timer: Scheduled<Void>?
    /// Why the store could not be searched for the key, the last time.
    var storeFailure: StoreFailure?
    /// Keeps the exchange alive until the engine has decided: a request that is accepted at once stays accepted if its client leaves.
    var kept: Exchange?

    init(_ loop: ProxyLoop) {
        self.loop = loop
        claim = loop.engine.nextClaim()
    }

    /// No key stays reserved for a request that is gone.
    deinit { if !hasEnded { loop.engine.post(.ended(claim, nil)) } }

    /// Ends the claim once; later calls do nothing.
    ///
    /// - Parameter outcome: The outcome for other requests with the key. Nil: there is no outcome, and another request is sent.
    func end(_ outcome: KeyOutcome?) {
        stopTimer()
        // No decision comes any more, and the exchange holds its search.
        kept = nil
        guard !hasEnded else { return }
        hasEnded = true
        loop.engine.post(.ended(claim, outcome))
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
