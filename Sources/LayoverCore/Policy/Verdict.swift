/// What the rules say about one outcome of an attempt.
package enum Verdict: Sendable, Hashable {
    /// Make another attempt at once, on a new connection: the old one died between two requests, which
    /// says nothing about the origin.
    case againOnNewConnection
    /// Join the pending set and wait: for time, for the way to open, or (`asks`) for a person.
    case park(Parking)
    /// Pass the response on to the client.
    case deliver(DeliverReason)
    /// Answer the client with what the policy has in place of the origin's response.
    case standIn(StandInResponse)
    /// Tell the client now.
    case fail(FailReason)

    /// How a parked request waits.
    package struct Parking: Sendable, Hashable {
        /// The wait before the next attempt that nothing else brings about.
        package var delay: Duration
        /// Whether the gate of the origin is to be shut by this failure.
        package var shutsGate: Bool
        /// Why a person has to decide; nil while it goes on by itself.
        package var asks: UndecidedReason?
        package var rule: ParkingRule
        /// The wait that the origin asked for. Nil: the origin named no wait.
        package var retryAfter: Duration?

        package init(
            delay: Duration, shutsGate: Bool, asks: UndecidedReason? = nil, rule: ParkingRule = .retryOn,
            retryAfter: Duration? = nil
        ) {
            self.retryAfter = retryAfter
            self.delay = delay
            self.shutsGate = shutsGate
            self.asks = asks
            self.rule = rule
        }

        /// Whether the attempt ended without a response of the origin: its client gets a ticket now, if it takes one then
        /// (`async: "whenAway"`). A response that is retried, or an attempt that was ended here, does not count.
        package var hadNoResponse: Bool {
            switch rule {
            case .retryOn, .portal, .offline, .onMaybeApplied, .onExhausted, .gate: true
            case .outcomeUnknown, .status, .networkChanged, .aborted, .stopping, .ownTrouble, .store, .rescued: false
            }
        }

        /// Whether another attempt follows that `automaticAttemptsMax` has to allow. An attempt that the proxy itself ended is made again
        /// without that.
        var needsAttemptLeft: Bool {
            switch rule {
            case .retryOn, .portal, .status, .outcomeUnknown, .aborted: asks == nil
            case .networkChanged, .offline, .onMaybeApplied, .onExhausted, .gate, .stopping, .ownTrouble, .store, .rescued: false
            }
        }
    }

    /// The rule that parked it.
    package enum ParkingRule: String, Sendable, Hashable, CaseIterable {
        /// Something in `retryOn` matches the failure.
        case retryOn
        /// `retryOn` lists the status.
        case status
        /// A captive portal answers in place of origins, and the certificate does not convince.
        case portal
        /// The network changed while it was connecting.
        case networkChanged
        /// A person set the mode `offline` before anything was sent.
        case offline
        /// `onMaybeApplied` is `ask`.
        case onMaybeApplied
        /// The response to a repetition does not show whether an earlier attempt was applied.
        case outcomeUnknown
        /// `onExhausted` is `ask`.
        case onExhausted
        /// A person ended the attempt.
        case aborted
        /// The gate of its origin was shut before it could try.
        case gate
        /// The proxy was being stopped; the next process goes on with it.
        case stopping
        /// The proxy itself was in the way of a ticket.
        case ownTrouble
        /// The store could not say what to send, or take note of the attempt.
        case store
        /// The proxy ended while the attempt was under way; the next process found it so.
        case rescued
    }

    /// The rule that passed the response on.
    package enum DeliverReason: String, Sendable, Hashable, CaseIterable {
        /// The status is not in `retryOn`.
        case answered
        /// The request may not be sent twice, or could not be.
        case notRepeatable
        /// `automaticAttemptsMax` attempts were made.
        case exhausted
        /// The origin wants a longer wait than `retryAfterMax`.
        case retryAfterMax
        /// The origin wants a longer wait than is left of the hold.
        case holdMax
        /// The origin says that another attempt is of no use.
        case originForbids
        /// The retry budget of the origin is spent.
        case budget
        /// A limit forbids to park it.
        case limit
    }

    /// The rule that ended it.
    package enum FailReason: String, Sendable, Hashable, CaseIterable {
        /// Nothing in `retryOn` matches the failure.
        case notInRetryOn
        /// The name does not exist, and the network is there.
        case nameUnknown
        /// The request may have been applied, and it is not repeatable.
        case maybeApplied
        /// The response to a repetition does not show whether an earlier attempt was applied.
        case outcomeUnknown
        /// The body of the request cannot be sent again: over `limits.bodyMax`, or broken off by the client.
        case bodyNotReplayable
        /// `automaticAttemptsMax` attempts were made.
        case exhausted
        /// The mode is `pass`.
        case pass
        /// A response had begun, so nothing else can be told to the client.
        case responseBegan
        /// The origin was asked first, and its response says that the request is not to be sent.
        case preflight
    }

    /// Whether no other attempt is made at once.
    package var endsTheTry: Bool { self != .againOnNewConnection }

    /// Whether the request is sent once more without a person's decision.
    package var sendsAgain: Bool {
        switch self {
        case .againOnNewConnection: true
        case .park(let parking): parking.asks == nil
        case .deliver, .standIn, .fail: false
        }
    }

    /// One word for people.
    package var word: String {
        switch self {
        case .againOnNewConnection: "again"
        case .park(let parking): parking.asks == nil ? "park" : "ask"
        case .deliver: "deliver"
        case .standIn: "standIn"
        case .fail: "fail"
        }
    }

    /// The rule that made it.
    package var rule: String {
        switch self {
        case .againOnNewConnection: "staleConnection"
        case .park(let parking): parking.rule.rawValue
        case .deliver(let reason): reason.rawValue
        case .standIn: "onExhausted"
        case .fail(let reason): reason.rawValue
        }
    }
}

/// Why a person has to decide.
package enum UndecidedReason: String, Sendable, Hashable, CaseIterable {
    /// The request may have done its work, and must not be sent twice.
    case maybeApplied
    /// The automatic attempts are used up.
    case exhausted
    /// The credentials that it carries are past their time.
    case credentialsExpired
    /// The request cannot be made complete, because the value of a token is missing, or the answer to the preflight shows that
    /// the origin does not want the request.
    case rejected
    /// A ticket that it depends on was not delivered.
    case parentFailed
}
