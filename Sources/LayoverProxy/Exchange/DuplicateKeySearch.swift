import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

/// The search for another request with the same `Idempotency-Key`. The key is reserved before the first attempt, so that of equal
/// requests one goes, also where they come at the same time. What is done when the core decides (`KeySearch`).
///
/// Confined to the loop of its exchange.
final class DuplicateKeySearch {
    private unowned let exchange: Exchange
    private let loop: ProxyLoop
    private let claim: KeyClaim
    /// The outcome of the request with this payload, once it is there.
    private var given: (outcome: KeyOutcome, payload: [UInt8])?
    /// Ends the wait for the outcome of an equal request, or for the store.
    private var timer: Scheduled<Void>?
    /// Why the store could not be searched for the key, the last time.
    private var storeFailure: StoreFailure?
    /// The exchange, until the engine has decided: a request that is accepted at once is so though its client leaves meanwhile.
    private var kept: Exchange?

    init(of exchange: Exchange) {
        self.exchange = exchange
        loop = exchange.loop
        claim = KeyClaim(engine: loop.engine)
    }

    func begin(_ digest: PayloadDigest, isComplete: Bool) {
        if isAtOnce { kept = exchange }
        claim.ask(key: digest.key, payload: isComplete ? digest.mark.payload : nil, isInserted: isAtOnce, by: exchange)
    }

    private var isAtOnce: Bool { exchange.machine.isAcceptedAtOnce }

    /// The request is complete.
    ///
    /// - Returns: Whether the outcome of another one is used.
    func requestCompleted() -> Bool {
        if given != nil {
            useOutcome()
            return true
        }
        if let digest = exchange.conversion?.digest { claim.completed(payload: digest.mark.payload) }
        return false
    }

    /// The client has waited as long as it wants.
    ///
    /// - Returns: Whether the request waits for the outcome of another one, or for the store.
    func waitEnded() -> Bool {
        guard exchange.machine.keyWaitEnded() else { return false }
        claim.waitEnded()
        return true
    }

    /// The client is gone, and the response goes on only if others wait for it: the engine says whether any do.
    func clientLeft() { claim.clientLeft() }

    /// The client is gone, and the time of the entry is over.
    func lookForOthers(of id: EntryID) { claim.lookForOthers(of: id) }

    /// Once; later calls do nothing.
    func end(_ outcome: KeyOutcome?) {
        timer?.cancel()
        claim.end(outcome)
    }

    // MARK: What the engine decides

    func decided(_ decision: KeyDecision) {
        defer { kept = nil }
        if case .offerTicket = decision {
            if !isAtOnce { exchange.conversion?.askForOthers() }
            return
        }
        if case .shared = decision { return exchange.readOnForOthers() }
        if case .unshared = decision { return exchange.othersLeft() }
        guard exchange.phase == .searching(.duplicateKey) else { return }
        switch decision {
        case .go: follow(exchange.machine.keyIsFree())
        case .join: follow(exchange.machine.keyIsTaken(.outcome, isInputClosed: isInputClosed))
        // An equal request may be a ticket already, so nothing is sent until the store can be searched.
        case .waitForStore(let failure):
            storeFailure = failure
            follow(exchange.machine.keyIsTaken(.store, isInputClosed: isInputClosed))
        case .storeUnknown(let failure): fail(.keyUnknown(failure))
        case .outcome(let outcome, let payload):
            given = (outcome, payload)
            follow(exchange.machine.outcomeCame())
        case .reused: exchange.fail(.keyReused)
        case .refused(let limit, let value): exchange.fail(.limit(limit, value))
        case .offerTicket, .shared, .unshared: break
        }
    }

    private var isInputClosed: Bool { exchange.client?.connection?.isInputClosed == true }

    private func follow(_ step: KeySearch.Step) {
        if !exchange.machine.awaitsKey { timer?.cancel() }
        switch step {
        case .accept: exchange.conversion?.acceptAtOnce()
        case .attempt: exchange.tryAtOnce()
        case .attemptAsTicket:
            exchange.tryAtOnce()
            exchange.conversion?.ask()
        case .answerCutOff: exchange.answerIfCutOff()
        case .wait:
            exchange.conversion?.startTimer()
            wait()
        case .waitForTicket:
            claim.waitEnded()
            wait()
        case .leave:
            // The exchange lets its client go.
            let connection = exchange.client?.connection
            exchange.clientLeft()
            connection?.linger()
        case .compare: compare()
        case .none: break
        }
    }

    private func wait() {
        // The wait needs a limit of its own: the request that is sent may have none, if its client has left or its response has no end.
        let bound = NIOLoopBound(WeakSearch(search: self), eventLoop: loop.eventLoop)
        timer = loop.eventLoop.scheduleTask(in: TimeAmount(exchange.machine.rules.policy.holdMax)) { bound.value.search?.timeIsOver() }
        // Only the whole body shows whether the requests are equal.
        exchange.client?.sendContinue(in: exchange.phase)
    }

    private func timeIsOver() {
        guard exchange.machine.awaitsKey else { return }
        let storeFailure = exchange.machine.awaitsOutcome ? nil : storeFailure
        fail(storeFailure.map { .keyUnknown($0) } ?? .equalRequestUnderWay)
    }

    /// Nothing of it was sent.
    private func fail(_ problem: Problem) {
        // This request may hold the key by now. The end of its wait is no outcome for the others.
        claim.end(nil)
        exchange.fail(problem)
    }

    private func compare() {
        exchange.conversion?.stopTimers()
        // The body is only to be compared, so nothing of it need be kept.
        exchange.request.body?.breakOff()
        exchange.forgetBody()
        exchange.client?.sendContinue(in: exchange.phase)
        if exchange.client?.isReceivingRequest == true { exchange.client?.connection?.resumeBody() } else { useOutcome() }
    }

    /// The request is complete, and another one with its key has come to something.
    private func useOutcome() {
        guard exchange.machine.hasOutcome, let (outcome, payload) = given else { return }
        guard exchange.conversion?.digest?.mark.payload == payload else { return exchange.fail(.keyReused) }
        switch outcome {
        case .ticket(let id): exchange.conversion?.answerAgain(id)
        case .own(let status, let fields, let body):
            exchange.client?.answer(OwnResponse(status: status, fields: fields, body: body), exchange)
        case .answer(let shared) where shared.isBodyLost: exchange.fail(.responseNotKept)
        case .answer(let shared): give(shared)
        }
    }

    private func give(_ shared: SharedResponse) {
        guard let client = exchange.client, client.connection != nil else { return exchange.ended(as: .cancelled) }
        exchange.machine.deliveryBegan()
        claim.end(nil)
        loop.finalResponseGiven(client)
        client.response.give(shared)
    }
}

/// A timer must not keep a search that is over.
private struct WeakSearch {
    weak var search: DuplicateKeySearch?
}

extension KeyOutcome {
    init(_ response: OwnResponse) {
        self = .own(status: response.status, fields: response.fields, body: response.body)
    }
}
