import LayoverCore
import NIOCore

/// Requests that share an `Idempotency-Key`: the core decides which one is sent, and the others get its outcome.
struct KeyDesk {
    /// What the engine does for the desk.
    enum Errand {
        /// Search the store for the key.
        case search(KeyReservations.Claim, key: [UInt8])
        /// Search it again after a pause.
        case searchLater(KeyReservations.Claim, key: [UInt8])
        /// `limits.heldClients` refused a request.
        case reportLimit(Int)
    }

    /// Held weakly: the claim of a request that is gone ends by itself.
    private struct Claimant {
        weak var exchange: (any KeyedExchange)?
    }

    /// Pause between two searches of a store that could not be searched. Default: 1 s.
    static let searchPause: TimeAmount = .seconds(1)

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

    func isClaimed(_ claim: KeyReservations.Claim) -> Bool { claimants[claim] != nil }

    /// Whether another request waits for the outcome of this one.
    mutating func isAwaited(_ claim: KeyReservations.Claim) -> Bool { reservations.isAwaited(claim) }

    mutating func take(_ fact: KeyFact) -> [Errand] {
        switch fact {
        case .asked(let claim, let key, let payload, let search, let exchange):
            claimants[claim] = Claimant(exchange: exchange)
            // Without a store there are no tickets.
            let hasTickets = store.map { $0.isOpen || $0.hasUnknownTickets } ?? false
            return perform(reservations.asked(claim, key: key, payload: payload, search: hasTickets ? search : .none))
        case .completed(let claim, let payload): return perform(reservations.completed(claim, payload: payload))
        case .waitEnded(let claim): return perform(reservations.waitEnded(claim))
        case .clientLeft(let claim): return perform(reservations.clientLeft(claim))
        case .lookForOthers: return []
        case .ended(let claim, let outcome):
            claimants[claim] = nil
            return perform(reservations.ended(claim, hasOutcome: outcome != nil), outcome)
        }
    }

    mutating func searched(_ claim: KeyReservations.Claim, _ result: Result<MarkedTicket?, StoreFailure>) -> [Errand] {
        switch result {
        case .success(let found?): return perform(reservations.looked(claim, found: found.payload), .ticket(found.id))
        case .success(nil): return perform(reservations.looked(claim, found: nil))
        case .failure(let failure):
            searchFailure = failure
            return perform(reservations.lookFailed(claim))
        }
    }

    /// - Parameter outcome: The outcome that is shared.
    private mutating func perform(_ actions: [KeyReservations.Action], _ outcome: KeyOutcome? = nil) -> [Errand] {
        var errands: [Errand] = []
        for action in actions {
            switch action {
            case .look(let claim, let key): errands.append(.search(claim, key: key))
            case .lookAgain(let claim, let key): errands.append(.searchLater(claim, key: key))
            case .waitForStore(let claim): decide(claim, .waitForStore(searchFailure))
            case .refuseUnknown(let claim): release(claim, .storeUnknown(searchFailure))
            case .go(let claim): decide(claim, .go)
            case .join(let claim): decide(claim, .join)
            case .offerTicket(let claim): decide(claim, .offerTicket)
            case .shared(let claim): decide(claim, .shared)
            case .unshared(let claim): decide(claim, .unshared)
            case .refuse(let claim): release(claim, .reused)
            case .refuseByLimit(let claim, let value):
                errands.append(.reportLimit(value))
                release(claim, .refused(limit: "limits.heldClients", value: value))
            case .share(let claim, let payload):
                if let outcome { release(claim, .outcome(outcome, payload: payload)) }
            }
        }
        return errands
    }

    private func decide(_ claim: KeyReservations.Claim, _ decision: KeyDecision) { claimants[claim]?.exchange?.keyDecided(decision) }

    private mutating func release(_ claim: KeyReservations.Claim, _ decision: KeyDecision) {
        claimants.removeValue(forKey: claim)?.exchange?.keyDecided(decision)
    }
}
