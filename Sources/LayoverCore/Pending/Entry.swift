import Retry

/// One exchange in the pending set: what people and programs see of it.
package struct Entry: StandingRequest, Sendable {
    /// The client that waits.
    package struct Client: Sendable, Hashable {
        package var address: String
        package var isConnected: Bool
        package var userAgent: String?
        /// The name that it asked for by TLS, where it is not that of its CONNECT. Not stored.
        @Boxed package var serverName: String? = nil

        package init(address: String, isConnected: Bool = true, userAgent: String? = nil) {
            self.address = address
            self.isConnected = isConnected
            self.userAgent = userAgent
        }
    }

    /// Where it stands, with what only matters there. `EntryState` has the exits.
    enum State: Sendable {
        case waiting(Turn)
        case attempting(Attempt)
        case held
        case undecided(UndecidedReason)
        /// In this final state.
        case ended(EntryState)
    }

    /// What a waiting entry needs before it may go.
    enum Turn: Sendable {
        /// Its due time, or its origin.
        case due
        /// Room in the window of its origin: this said that it may go.
        case eligible(AttemptTrigger)
        /// The end of others that go before it. It is in no heap meanwhile.
        case blocked(isAskedFor: Bool)
    }

    /// The attempt under way.
    struct Attempt: Sendable {
        /// Nil only before it is under way.
        var startedAt: Timestamp?
        /// Whether it tests the way to an origin whose gate is shut.
        var isCanary = false
        /// Whether a person asked for it.
        var isAskedFor = false
        /// Whether it is to be made anew if it has not connected yet.
        var isAbandoned = false
        /// Whether the head of its response has come.
        var isAnswered = false
        /// Whether a reload came meanwhile: its exchange may not know of it yet when it judges the outcome.
        var isRerouted = false
        /// The parent proxy that it goes through; a reload may have given its entry another one since. Nil: none.
        @Boxed var parentProxyGate: Origin? = nil
        /// The pause of its origin in which it began.
        var pause = StatusPacing.PauseNumber.none
    }

    /// What ends the wait of an entry before its due time.
    enum WaitEnd: Sendable {
        /// Nothing but reachability.
        case time
        /// The opening of the gate too.
        case origin
        /// Nothing: a status says nothing about reachability.
        case status
    }

    /// Who keeps the request.
    enum Owner: Sendable {
        /// Its client, on its connection.
        case client(ClientWish)
        /// Its client, until the ticket is on disk: nothing is done with it meanwhile.
        case clientUntilStored
        /// The store.
        case store
        /// The cache, which wants to have it for the next reader. No client waits for it.
        case cache
        /// Nothing: its client is gone, and only the outcome of its attempt is wanted.
        case nobody
        /// The same, but others with its key wait for its outcome, or it is being found out whether any do.
        case others
    }

    /// What a client wants when its time on the connection is over.
    enum ClientWish: Sendable {
        /// A response that says so.
        case none
        /// A ticket.
        case ticket
        /// A ticket, and it was offered one, and has not replied yet.
        case ticketOffered
    }

    /// Only the history changes it: it cuts off a long URL (`withURL(of:)` has it whole).
    package internal(set) var request: RequestDescription
    /// Its host and path for searches (`EntrySearch.foldedTarget`).
    @Boxed private(set) var foldedTarget: String? = nil
    package var standing: RequestStanding
    var fullState = State.waiting(.due)
    /// The parent proxy through which it goes, by its gate; nil: none. A reload may change it.
    @Boxed package internal(set) var parentProxyGate: Origin? = nil
    var sharedPolicy: SharedPolicy
    package var policy: Policy { sharedPolicy.policy }
    package internal(set) var automaticLeft: Int?
    package internal(set) var isBodyReplayable: Bool
    /// The wish of the request itself about its policy. Nil: it has none. The wish of a ticket is in its facts.
    @Boxed var heldWish: PolicyWish? = nil
    // Properties of one byte are adjacent, to avoid padding.
    /// Whether it was cancelled because the proxy was being stopped.
    var wasStopped = false
    /// Why it does not go on although its client has left under `clientGone: adopt`.
    package internal(set) var adoptionObstacle: AdoptionObstacle?
    /// Whether its next attempt is the retry of a status that the budget has yet to pay for.
    var owesBudget = false
    /// The reload in which it has found its route (`Rerouting.number`).
    var reloadNumber: UInt8 = 0
    /// Whether no byte of it has ever been handed to the kernel.
    var isNeverSent = true
    /// Not nil for a ticket: it is kept in the store, and so is its response.
    package internal(set) var ticket: TicketFacts?
    /// What depends on others, as it stood when someone looked. Only for what people are shown.
    @Boxed var outlook: Outlook? = nil
    /// The incident of the entry: an outage or a decision. Nil: none.
    package internal(set) var incident: IncidentID?

    /// Order of arrival in the set.
    package let sequence: Int
    var waitEnd: WaitEnd
    var owner: Owner
    /// What the budget gave for the retry of a status.
    var grant: RetryBudget.Grant?
    /// Grows whenever the entry is put somewhere else, so that stale places in heaps are known.
    var placement: UInt32 = 0

    /// Makes it ready for searches.
    mutating func foldTarget() { foldedTarget = EntrySearch.foldedTarget(unlessPlain: origin, url) }

    mutating func forgetFoldedTarget() { foldedTarget = nil }
}
