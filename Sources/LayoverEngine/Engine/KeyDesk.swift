import LayoverCore
import NIOCore
import Synchronization

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

    private var reservations: KeyReservations
    private var claimants: [KeyReservations.Claim: Claimant] = [:]
    /// Why the last search of the store for a key failed.
    private var searchFailure = StoreFailure(.closed, "The store is not open.")

    init(heldClientCountMax: Int) { reservations = KeyReservations(joinedCountMax: heldClientCountMax) }

    func isClaimed(_ claim: KeyReservations.Claim) -> Bool { claimants[claim] != nil }

    /// Whether another request waits for the outcome of this one.
    mutating func isAwaited(_ claim: KeyReservations.Claim) -> Bool { reservations.isAwaited(claim) }

    /// - Parameter hasStore: Whether there may be tickets.
    mutating func take(_ fact: KeyFact, hasStore: Bool) -> [Errand] {
        switch fact {
        case .asked(let claim, let key, let payload, let search, let exchange):
            claimants[claim] = Claimant(exchange: exchange)
            return perform(reservations.asked(claim, key: key, payload: payload, search: hasStore ? search : .none))
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

extension Engine {
    nonisolated func nextClaim() -> KeyReservations.Claim {
        KeyReservations.Claim(number: claimNumbers.add(1, ordering: .relaxed).newValue)
    }

    package nonisolated func post(_ fact: KeyFact) {
        eventLoop.execute { self.assumeIsolated { $0.handle(fact) } }
    }

    private func handle(_ fact: KeyFact) {
        if case .lookForOthers(let claim, let id) = fact { return handle(OthersLookedFor(id, doWait: keys.isAwaited(claim))) }
        // Without a store there are no tickets.
        run(keys.take(fact, hasStore: store.map { $0.isOpen || $0.hasUnknownTickets } ?? false))
    }

    private func run(_ errands: [KeyDesk.Errand]) {
        for errand in errands {
            switch errand {
            case .search(let claim, let key): findTicket(of: key, for: claim)
            case .searchLater(let claim, let key): findTicketLater(of: key, for: claim)
            case .reportLimit(let value): reporter.refused("limits.heldClients", value, now: clock.now())
            }
        }
    }

    private func findTicket(of key: [UInt8], for claim: KeyReservations.Claim) {
        guard let store else { return }
        // The insertion of a ticket may be on disk although its commit failed. A later commit of a change settles that it is not.
        let seen = Timestamp(nanoseconds: clock.now().nanoseconds &+ ticketClock.offset)
        // Changes that the store has not committed yet count too.
        store.commit(store.isUncertain ? [.seen(seen)] : []) { _ in
            guard !store.isUncertain else { return self.searched(claim, .failure(store.condition.failure ?? Self.noReason)) }
            store.ticket(ofKey: key) { self.searched(claim, $0) }
        }
    }

    private static let noReason = StoreFailure(.io, "The result of a change is not known.")

    /// Pause between two searches of a store that could not be searched. Default: 1 s.
    private static let searchPause: TimeAmount = .seconds(1)

    private func findTicketLater(of key: [UInt8], for claim: KeyReservations.Claim) {
        // Weakly: the timer must not keep a released engine alive.
        eventLoop.scheduleTask(in: Self.searchPause) { [weak self] in
            self?.assumeIsolated { if $0.keys.isClaimed(claim) { $0.findTicket(of: key, for: claim) } }
        }
    }

    private nonisolated func searched(_ claim: KeyReservations.Claim, _ result: Result<MarkedTicket?, StoreFailure>) {
        eventLoop.execute { self.assumeIsolated { $0.run($0.keys.searched(claim, result)) } }
    }
}
