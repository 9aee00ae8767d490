import LayoverCore
import NIOCore
import Synchronization

/// Requests that share an `Idempotency-Key`: the core says which one goes, the others are told what became of it.
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

    /// - Parameter outcome: What there is to share.
    private func perform(_ actions: [KeyReservations.Action], _ outcome: KeyOutcome? = nil) {
        for action in actions {
            switch action {
            case .look(let claim, let key):
                look(for: key, claim)
            case .go(let claim):
                claimants[claim]?.exchange?.keyDecided(.go)
            case .join(let claim):
                claimants[claim]?.exchange?.keyDecided(.join)
            case .offerTicket(let claim):
                claimants[claim]?.exchange?.keyDecided(.offerTicket)
            case .refuse(let claim):
                claimants.removeValue(forKey: claim)?.exchange?.keyDecided(.reused)
            case .refuseByLimit(let claim, let value):
                totals.refusedCount += 1
                claimants.removeValue(forKey: claim)?.exchange?.keyDecided(
                    .refused(limit: "limits.heldClients", value: value))
            case .share(let claim, let payload):
                guard let outcome, let claimant = claimants.removeValue(forKey: claim) else { continue }
                claimant.exchange?.keyDecided(.outcome(outcome, payload: payload))
            }
        }
    }

    private func look(for key: [UInt8], _ claim: KeyReservations.Claim) {
        guard let store else { return }
        // What is on its way to the disk counts too.
        store.commit([]) { _ in
            store.ticket(ofKey: key) { result in
                self.eventLoop.execute { self.assumeIsolated { $0.looked(claim, result) } }
            }
        }
    }

    /// A store that cannot be read makes no tickets; requests go through all the same.
    private func looked(_ claim: KeyReservations.Claim, _ result: Result<MarkedTicket?, StoreFailure>) {
        guard case .success(let found?) = result else { return perform(keys.looked(claim, found: nil)) }
        perform(keys.looked(claim, found: found.payload), .ticket(found.id))
    }
}

/// Held weakly: a request that is gone gives its claim up by itself.
struct Claimant {
    weak var exchange: (any KeyedExchange)?
}
