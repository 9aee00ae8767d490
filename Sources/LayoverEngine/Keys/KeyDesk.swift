import LayoverCore
import NIOCore

/// Requests that share an `Idempotency-Key`: the core decides which one is sent, and the others get its outcome.
struct KeyDesk {
    /// Held weakly: the claim of a request that is gone ends by itself.
    private struct Claimant {
        weak var exchange: (any KeyedExchange)?
    }

    /// Pause between two searches of a store that could not be searched. Default: 1 s.
    private static let searchPause: TimeAmount = .seconds(1)

    private var reservations: KeyReservations
    /// Nil: there are no tickets.
    private let store: (any PendingStore)?
    private var claimants: [KeyReservations.Claim: Claimant] = [:]
    /// Why the last search of the store for a key failed.
    private var searchFailure = StoreFailure(.closed, "The store is not open.")

    init(heldClientCountMax: Int, store: (any PendingStore)?) {
        reservations = KeyReservations(joinedCountMax: heldClientCountMax)
        self.store = store
    }

    /// Whether another request waits for the outcome of this one.
    mutating func isAwaited(_ claim: KeyReservations.Claim) -> Bool { reservations.isAwaited(claim) }

    mutating func take(_ fact: KeyFact, in engine: isolated Engine) {
        switch fact {
        case .asked(let claim, let key, let payload, let search, let exchange):
            claimants[claim] = Claimant(exchange: exchange)
            // Without a store there are no tickets.
            let hasTickets = store.map { $0.isOpen || $0.hasUnknownTickets } ?? false
            perform(reservations.asked(claim, key: key, payload: payload, search: hasTickets ? search : .none), in: engine)
        case .completed(let claim, let payload): perform(reservations.completed(claim, payload: payload), in: engine)
        case .waitEnded(let claim): perform(reservations.waitEnded(claim), in: engine)
        case .clientLeft(let claim): perform(reservations.clientLeft(claim), in: engine)
        case .lookForOthers: break
        case .ended(let claim, let outcome):
            claimants[claim] = nil
            perform(reservations.ended(claim, hasOutcome: outcome != nil), outcome, in: engine)
        }
    }

    // MARK: In the store

    private func search(_ key: [UInt8], for claim: KeyReservations.Claim, in engine: isolated Engine) {
        store?.certainTicket(ofKey: key, time: .time(engine.clock.now(), by: engine.ticketClock)) { result in
            engine.enter { $0.keys.searched(claim, result, in: $0) }
        }
    }

    /// Searches after a pause.
    private func searchLater(_ key: [UInt8], for claim: KeyReservations.Claim, in engine: isolated Engine) {
        // Weakly: the timer must not keep a released engine alive.
        engine.eventLoop.scheduleTask(in: Self.searchPause) { [weak engine] in
            engine?.assumeIsolated { if $0.keys.claimants[claim] != nil { $0.keys.search(key, for: claim, in: $0) } }
        }
    }

    private mutating func searched(
        _ claim: KeyReservations.Claim, _ result: Result<MarkedTicket?, StoreFailure>, in engine: isolated Engine
    ) {
        switch result {
        case .success(let found?): perform(reservations.looked(claim, found: found.payload), .ticket(found.id), in: engine)
        case .success(nil): perform(reservations.looked(claim, found: nil), in: engine)
        case .failure(let failure):
            searchFailure = failure
            perform(reservations.lookFailed(claim), in: engine)
        }
    }

    // MARK: Decisions

    /// - Parameter outcome: The outcome that is shared.
    private mutating func perform(
        _ actions: [KeyReservations.Action], _ outcome: KeyOutcome? = nil, in engine: isolated Engine
    ) {
        for action in actions {
            switch action {
            case .look(let claim, let key): search(key, for: claim, in: engine)
            case .lookAgain(let claim, let key): searchLater(key, for: claim, in: engine)
            case .waitForStore(let claim): decide(claim, .waitForStore(searchFailure))
            case .refuseUnknown(let claim): release(claim, .storeUnknown(searchFailure))
            case .go(let claim): decide(claim, .go)
            case .join(let claim): decide(claim, .join)
            case .offerTicket(let claim): decide(claim, .offerTicket)
            case .shared(let claim): decide(claim, .shared)
            case .unshared(let claim): decide(claim, .unshared)
            case .refuse(let claim): release(claim, .reused)
            case .refuseByLimit(let claim, let value):
                engine.reporter.refused("limits.heldClients", value, now: engine.clock.now())
                release(claim, .refused(limit: "limits.heldClients", value: value))
            case .share(let claim, let payload):
                if let outcome { release(claim, .outcome(outcome, payload: payload)) }
            }
        }
    }

    private func decide(_ claim: KeyReservations.Claim, _ decision: KeyDecision) { claimants[claim]?.exchange?.keyDecided(decision) }

    private mutating func release(_ claim: KeyReservations.Claim, _ decision: KeyDecision) {
        claimants.removeValue(forKey: claim)?.exchange?.keyDecided(decision)
    }
}
