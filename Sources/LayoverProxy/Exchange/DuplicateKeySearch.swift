import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

/// The search for another request with the same `Idempotency-Key`. The key is reserved before the first attempt, so that of equal
/// requests one goes, also where they come at the same time.
///
/// Confined to the loop of its exchange.
final class DuplicateKeySearch {
    /// How a request stands with its key.
    private enum Standing {
        /// The engine was asked which request of the key goes.
        case asked
        /// It waits for the outcome of another request. `isDue`: its client has waited as long as it wants.
        case joined(isDue: Bool)
        /// It is the one that goes.
        case reserved
        /// It has the outcome of the request with this payload. Its own body may still be arriving.
        case given(KeyOutcome, payload: [UInt8])
    }

    private unowned let exchange: Exchange
    private let loop: ProxyLoop
    private let claim: KeyClaim
    private var standing = Standing.asked
    /// When it stops waiting for the outcome of an equal request, or for the store.
    private var timer: Scheduled<Void>?
    /// Why the store cannot be searched for the key; nil while it can be.
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
    private var isSearching: Bool { exchange.phase == .searching(.duplicateKey) }

    /// Whether it waits for the outcome of another request.
    var hasJoined: Bool { if case .joined = standing { isSearching } else { false } }
    /// Whether it waits for an outcome or for the store, and nothing of it was sent.
    var isWaiting: Bool { hasJoined || isSearching && storeFailure != nil }
    /// Whether it is the one that goes.
    var isReserved: Bool { if case .reserved = standing { true } else { false } }

    /// The request is complete.
    ///
    /// - Returns: Whether the outcome of another one is used.
    func requestCompleted() -> Bool {
        if case .given = standing {
            useOutcome()
            return true
        }
        if let digest = exchange.conversion?.digest { claim.completed(payload: digest.mark.payload) }
        return false
    }

    /// Its client has waited as long as it wants.
    ///
    /// - Returns: Whether it waits for the outcome of another request, or for the store.
    func waitEnded() -> Bool {
        guard isWaiting else { return false }
        if hasJoined { standing = .joined(isDue: true) }
        claim.waitEnded()
        return true
    }

    /// Its client is gone, and the response goes on only if others wait for it: the engine says whether any do.
    func clientLeft() { claim.clientLeft() }

    /// Its client is gone, and the time of its entry is over.
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
        guard isSearching else { return }
        switch decision {
        case .go: go()
        case .join: join()
        case .waitForStore(let failure): waitForStore(failure)
        case .storeUnknown(let failure): fail(.keyUnknown(failure))
        case .outcome(let outcome, let payload): use(outcome, payload)
        case .reused: exchange.fail(.keyReused)
        case .refused(let limit, let value): exchange.fail(.limit(limit, value))
        case .offerTicket, .shared, .unshared: break
        }
    }

    private func go() {
        var wasDue = false
        if case .joined(let isDue) = standing { wasDue = isDue }
        standing = .reserved
        storeFailure = nil
        timer?.cancel()
        if isAtOnce { exchange.conversion?.acceptAtOnce(); return }
        if exchange.conversion?.isCutOff == true { return exchange.answerIfCutOff() }
        exchange.tryAtOnce()
        if wasDue { exchange.conversion?.ask() }
    }

    private func join() {
        // It has waited for the store, and waits for the outcome now.
        if hasJoined {
            storeFailure = nil
            return
        }
        standing = .joined(isDue: isAtOnce)
        if isAtOnce {
            // Its client is to be told of a ticket at once, so the one that goes is to become one.
            claim.waitEnded()
        } else if let client = exchange.client, client.connection?.isInputClosed == true {
            // It waits from now on for nothing that could still reach it.
            exchange.clientLeft()
            client.connection?.linger()
            return
        } else {
            exchange.conversion?.startTimer()
        }
        // The one that goes may have all the time in the world: its client may have left, or take a response without end.
        startTimer()
        // Whether it is the same request says all of its body.
        exchange.client?.sendContinue(in: exchange.phase)
    }

    private func startTimer() {
        let bound = NIOLoopBound(WeakSearch(search: self), eventLoop: loop.eventLoop)
        timer = loop.eventLoop.scheduleTask(in: TimeAmount(exchange.machine.rules.policy.holdMax)) {
            guard let search = bound.value.search, search.isWaiting else { return }
            search.fail(search.storeFailure.map { .keyUnknown($0) } ?? .equalRequestUnderWay)
        }
    }

    /// Nothing of it was sent.
    private func fail(_ problem: Problem) {
        // It may be the one that goes by now; that it has waited is no outcome for others.
        claim.end(nil)
        exchange.fail(problem)
    }

    /// An equal request may be a ticket already, so nothing is sent until the store can be searched.
    private func waitForStore(_ failure: StoreFailure) {
        let isFirst = !isWaiting
        storeFailure = failure
        guard isFirst else { return }
        if let client = exchange.client, client.connection?.isInputClosed == true {
            // The client has closed its side, so no later response could reach it.
            exchange.clientLeft()
            client.connection?.linger()
            return
        }
        exchange.conversion?.startTimer()
        startTimer()
        exchange.client?.sendContinue(in: exchange.phase)
    }

    private func use(_ outcome: KeyOutcome, _ payload: [UInt8]) {
        standing = .given(outcome, payload: payload)
        timer?.cancel()
        exchange.conversion?.stopTimers()
        // Its body is only to be compared, so nothing of it need be kept.
        exchange.request.body?.breakOff()
        exchange.forgetBody()
        exchange.client?.sendContinue(in: exchange.phase)
        if exchange.client?.isReceivingRequest == true { exchange.client?.connection?.resumeBody() } else { useOutcome() }
    }

    /// The request is complete, and another one with its key has come to something.
    private func useOutcome() {
        guard isSearching, case .given(let outcome, let payload) = standing else { return }
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
