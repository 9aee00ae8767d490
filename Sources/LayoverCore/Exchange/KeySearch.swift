/// How far one request is in its search for another one with the same `Idempotency-Key`.
///
/// The engine says which of them goes; what follows for this one is decided here.
package struct KeySearch: Sendable {
    package enum Awaited: Sendable, Hashable, CaseIterable {
        /// The outcome of another request.
        case outcome
        /// The store, which cannot be searched for the key.
        case store
    }

    /// Consequence of what the engine says of a key.
    package enum Step: Sendable, Hashable {
        /// The request becomes a ticket before any attempt.
        case accept
        case attempt
        /// As `attempt`, and a ticket is asked for: its client has waited as long as it wants.
        case attemptAsTicket
        /// The proxy is being stopped: the client is answered, and nothing is sent.
        case answerCutOff
        /// The request waits, as long as its client and its policy let it. Only the whole body shows whether the requests are equal.
        case wait
        /// As `wait`, and its client is to be told of a ticket now: the request that goes is to become one.
        case waitForTicket
        /// The client has closed its side, so no later response could reach it.
        case leave
        /// The rest of the body is read, only to be compared.
        case compare
        case none
    }

    private enum State: Sendable {
        /// No other request is looked for, or the engine has not decided yet which one is sent.
        case asked
        /// The request waits, and nothing of it was sent. `isDue`: its client has waited as long as it wants.
        case waiting(for: Awaited, isDue: Bool)
        /// The request holds the key: it is the one that is sent.
        case reserved
        /// The outcome of another request is there. The body of this one may still be arriving.
        case given
    }

    private var state = State.asked

    /// Whether the request waits for the outcome of another one.
    var awaitsOutcome: Bool { if case .waiting(for: .outcome, _) = state { true } else { false } }
    /// Whether the request waits for an outcome or for the store, and nothing of it was sent.
    var isWaiting: Bool { if case .waiting = state { true } else { false } }
    var isReserved: Bool { if case .reserved = state { true } else { false } }
    var hasOutcome: Bool { if case .given = state { true } else { false } }

    /// - Returns: Whether the client has waited as long as it wants, and is still to be told of its ticket.
    mutating func isFree() -> Bool {
        defer { state = .reserved }
        return if case .waiting(_, let isDue) = state { isDue } else { false }
    }

    mutating func isTaken(
        _ awaited: Awaited, isInputClosed: Bool, isAcceptedAtOnce: Bool
    ) -> Step {
        if case .waiting(_, let isDue) = state {
            state = .waiting(for: awaited, isDue: isDue)
            return .none
        }
        state = .waiting(for: awaited, isDue: isAcceptedAtOnce)
        if isAcceptedAtOnce, awaited == .outcome { return .waitForTicket }
        return isInputClosed ? .leave : .wait
    }

    mutating func outcomeCame() { state = .given }

    /// - Returns: Whether the request waits for its key.
    mutating func waitEnded() -> Bool {
        guard case .waiting(let awaited, _) = state else { return false }
        state = .waiting(for: awaited, isDue: true)
        return true
    }
}
