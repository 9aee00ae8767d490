import LayoverCore
import NIOCore
import Synchronization

/// Requests that share an `Idempotency-Key`: the core decides which one is sent, and the others get its outcome.
extension Engine {
    nonisolated func nextClaim() -> KeyReservations.Claim {
        KeyReservations.Claim(number: claimNumbers.add(1, ordering: .relaxed).newValue)
    }

    package nonisolated func post(_ fact: KeyFact) {
        eventLoop.execute { self.assumeIsolated { $0.handle(fact) } }
    }

    private func handle(_ fact: KeyFact) {
        switch fact {
        case .asked(let claim, let key, let payload, let looks, let exchange):
            claimants[claim] = Claimant(exchange: exchange)
            perform(keys.asked(claim, key: key, payload: payload, looks: looks && store != nil))
        case .completed(let claim, let payload):
            perform(keys.completed(claim, payload: payload))
        case .waitEnded(let claim):
            perform(keys.waitEnded(claim))
        case .ended(let claim, let outcome):
            claimants[claim] = nil
            perform(keys.ended(claim, hasOutcome: outcome != nil), outcome)
        }
    }

    /// - Parameter outcome: The outcome that is shared.
    private func perform(_ actions: [KeyReservations.Action], _ outcome: KeyOutcome? = nil) {
        for action in actions {
            switch action {
            case .look(let claim, let key):
                findTicket(of: key, for: claim)
            case .go(let claim):
                claimants[claim]?.exchange?.keyDecided(.go)
            case .join(let claim):
                claimants[claim]?.exchange?.keyDecided(.join)
            case .offerTicket(let claim):
                claimants[claim]?.exchange?.keyDecided(.offerTicket)
            case .refuse(let claim):
                claimants.removeValue(forKey: claim)?.exchange?.keyDecided(.reused)
            case .refuseByLimit(let claim, let value):
                refused("limits.heldClients", value)
                claimants.removeValue(forKey: claim)?.exchange?.keyDecided(
                    .refused(limit: "limits.heldClients", value: value))
            case .share(let claim, let payload):
                guard let outcome, let claimant = claimants.removeValue(forKey: claim) else { continue }
                claimant.exchange?.keyDecided(.outcome(outcome, payload: payload))
            }
        }
    }

    private func findTicket(of key: [UInt8], for claim: KeyReservations.Claim) {
        guard let store else { return }
        // Changes that the store has not committed yet count too.
        store.commit([]) { _ in
            store.ticket(ofKey: key) { result in
                self.eventLoop.execute { self.assumeIsolated { $0.searched(claim, result) } }
            }
        }
    }

    /// With an unreadable store there are no tickets, and requests are sent as usual.
    private func searched(_ claim: KeyReservations.Claim, _ result: Result<MarkedTicket?, StoreFailure>) {
        guard case .success(let found?) = result else { return perform(keys.looked(claim, found: nil)) }
        perform(keys.looked(claim, found: found.payload), .ticket(found.id))
    }
}

/// Held weakly: the claim of a request that is gone ends by itself.
struct Claimant {
    weak var exchange: (any KeyedExchange)?
}
