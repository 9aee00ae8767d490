package import LayoverCore
import Synchronization

/// The claim of one request to its `Idempotency-Key`, from before its first attempt until its client is answered.
///
/// A claim that is released early ends without an outcome: no key stays reserved for a request that has ended.
package final class KeyClaim: Sendable {
    private let engine: Engine
    private let claim: KeyReservations.Claim
    private let isOver = Atomic<Bool>(false)

    package init(engine: Engine) {
        self.engine = engine
        claim = KeyReservations.Claim(number: engine.claimNumbers.add(1, ordering: .relaxed).newValue)
    }

    deinit { end(nil) }

    /// - Parameters:
    ///   - payload: Nil while the body is arriving.
    ///   - isInserted: Whether the store inserts the request before it is sent.
    package func ask(key: [UInt8], payload: [UInt8]?, isInserted: Bool, by exchange: any KeyedExchange) {
        engine.post(.asked(claim, key: key, payload: payload, isInserted ? .repeatedByInsertion : .needed, exchange))
    }

    /// The request is complete.
    package func completed(payload: [UInt8]) { engine.post(.completed(claim, payload: payload)) }

    /// The client has waited as long as it wants.
    package func waitEnded() { engine.post(.waitEnded(claim)) }

    /// The client is gone, and the response goes on only if others wait for it: the engine says whether any do.
    package func clientLeft() { engine.post(.clientLeft(claim)) }

    /// The client of the request is gone, and the time of its entry is over: the engine looks whether others wait for its outcome.
    package func lookForOthers(of id: EntryID) { engine.post(.lookForOthers(claim, id)) }

    /// Ends the claim once; later calls do nothing.
    ///
    /// - Parameter outcome: The outcome for other requests with the key. Nil: there is no outcome, and another request is sent.
    package func end(_ outcome: KeyOutcome?) {
        guard !isOver.exchange(true, ordering: .relaxed) else { return }
        engine.post(.ended(claim, outcome))
    }
}

/// Facts about keys that loops post to the engine.
package enum KeyFact: Sendable {
    case asked(
        KeyReservations.Claim, key: [UInt8], payload: [UInt8]?, KeyReservations.Search, any KeyedExchange)
    case completed(KeyReservations.Claim, payload: [UInt8])
    case waitEnded(KeyReservations.Claim)
    case clientLeft(KeyReservations.Claim)
    case lookForOthers(KeyReservations.Claim, EntryID)
    case ended(KeyReservations.Claim, KeyOutcome?)
}
