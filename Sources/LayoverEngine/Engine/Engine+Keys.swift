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
        case .asked(let claim, let key, let payload, let search, let exchange):
            claimants[claim] = Claimant(exchange: exchange)
            // Without a store there are no tickets.
            let hasStore = store.map { $0.isOpen || $0.hasUnknownTickets } ?? false
            perform(keys.asked(claim, key: key, payload: payload, search: hasStore ? search : .none))
        case .completed(let claim, let payload):
            perform(keys.completed(claim, payload: payload))
        case .waitEnded(let claim):
            perform(keys.waitEnded(claim))
        case .clientLeft(let claim):
            perform(keys.clientLeft(claim))
        case .lookForOthers(let claim, let id):
            handle(OthersLookedFor(id, doWait: keys.isAwaited(claim)))
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
            case .lookAgain(let claim, let key):
                findTicketLater(of: key, for: claim)
            case .waitForStore(let claim):
                claimants[claim]?.exchange?.keyDecided(.waitForStore(searchFailure))
            case .refuseUnknown(let claim):
                claimants.removeValue(forKey: claim)?.exchange?.keyDecided(.storeUnknown(searchFailure))
            case .go(let claim):
                claimants[claim]?.exchange?.keyDecided(.go)
            case .join(let claim):
                claimants[claim]?.exchange?.keyDecided(.join)
            case .offerTicket(let claim):
                claimants[claim]?.exchange?.keyDecided(.offerTicket)
            case .shared(let claim):
                claimants[claim]?.exchange?.keyDecided(.shared)
            case .unshared(let claim):
                claimants[claim]?.exchange?.keyDecided(.unshared)
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
            self?.assumeIsolated { if $0.claimants[claim] != nil { $0.findTicket(of: key, for: claim) } }
        }
    }

    private nonisolated func searched(_ claim: KeyReservations.Claim, _ result: Result<MarkedTicket?, StoreFailure>) {
        eventLoop.execute {
            self.assumeIsolated { engine in
                switch result {
                case .success(let found?): engine.perform(engine.keys.looked(claim, found: found.payload), .ticket(found.id))
                case .success(nil): engine.perform(engine.keys.looked(claim, found: nil))
                case .failure(let failure):
                    engine.searchFailure = failure
                    engine.perform(engine.keys.lookFailed(claim))
                }
            }
        }
    }
}

/// Held weakly: the claim of a request that is gone ends by itself.
struct Claimant {
    weak var exchange: (any KeyedExchange)?
}
