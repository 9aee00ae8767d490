/// What an exchange is doing. An exchange is in one phase at a time, and leaves it only by one of its exits.
package enum ExchangePhase: Sendable, Hashable {
    /// The request of a ticket is being read from the store; its attempt is due.
    case loading
    /// The client is still sending the request, which is needed whole.
    case collecting(for: Use)
    /// Something is looked for before an attempt, or in place of one.
    case searching(Search)
    /// The request is on its way to the store: it becomes a ticket before any attempt.
    case accepting
    /// The origin is asked whether the request makes sense (policy `preflight`).
    case preflight
    /// An attempt is under way; nothing of its response has come.
    case attempting
    /// A response has come whose status is worth another attempt; whether one is made is still to be said.
    case withholding
    /// The request waits in the pending set.
    case parked
    /// The response is on its way to its recipient.
    case delivering
    /// The client is gone. The attempt goes on, so that its outcome is known, others get the response, or the rest of the request is sent.
    case unattended
    /// Nothing more is done for the recipient.
    case ended

    package enum Use: Sendable, Hashable, CaseIterable {
        /// The client waits for the response, for some time at least.
        case attempt
        /// The client is told of the ticket at once.
        case ticket
        /// An attempt has failed that may have been applied. Another one is made if all of the request comes.
        case verdict
    }

    package enum Search: Sendable, Hashable, CaseIterable {
        /// The response to an equal request, in the cache.
        case cache
        /// Another request with its `Idempotency-Key`.
        case duplicateKey
    }

    /// The phases that may follow.
    package var exits: Set<ExchangePhase> {
        switch self {
        case .loading: [.preflight, .attempting, .parked, .ended]
        case .collecting(.attempt):
            [.collecting(for: .ticket), .searching(.duplicateKey), .searching(.cache), .attempting, .parked, .ended]
        case .collecting(.ticket): [.searching(.duplicateKey), .accepting, .ended]
        case .collecting(.verdict): [.attempting, .searching(.cache), .parked, .ended]
        case .searching(.duplicateKey): [.searching(.cache), .accepting, .attempting, .parked, .delivering, .ended]
        case .accepting: [.ended]
        case .searching(.cache): [.parked, .delivering, .ended]
        case .preflight: [.attempting, .parked, .ended]
        // Into itself: on a new connection in place of one that had died.
        case .attempting:
            [.attempting, .collecting(for: .verdict), .withholding, .searching(.cache), .parked, .delivering, .unattended, .ended]
        case .withholding: [.parked, .delivering, .ended]
        case .parked: [.preflight, .attempting, .ended]
        // Back to `attempting` or `parked`: the response broke off. All of it, or its rest, is requested again.
        case .delivering: [.attempting, .parked, .unattended, .ended]
        // Back to `attempting`: others with the same key want a ticket of this request.
        case .unattended: [.attempting, .ended]
        case .ended: []
        }
    }

    package static var all: [ExchangePhase] {
        [.loading] + Use.allCases.map { .collecting(for: $0) } + Search.allCases.map { .searching($0) }
            + [.accepting, .preflight, .attempting, .withholding, .parked, .delivering, .unattended, .ended]
    }

    /// Whether there is neither a response nor an end, and the request is known to those who decide about it.
    package var isPending: Bool { self == .parked || self == .attempting || self == .withholding }
}
