import Retry

/// One exchange in the pending set: what people and programs see of it.
package struct Entry: Sendable {
    /// The client that waits.
    package struct Client: Sendable, Hashable {
        package var address: String
        package var isConnected: Bool
        package var userAgent: String?

        package init(address: String, isConnected: Bool = true, userAgent: String? = nil) {
            self.address = address
            self.isConnected = isConnected
            self.userAgent = userAgent
        }
    }

    /// The address of its ticket too, and so a secret of its client: it is shown by another one (`EntryNaming`).
    package let id: EntryID
    /// Grows with every change.
    package internal(set) var revision = 1
    package internal(set) var state = EntryState.waiting
    package internal(set) var waitingFor: WaitReason?
    /// Why it is undecided.
    package internal(set) var why: UndecidedReason?
    package let method: String
    /// The target without userinfo; `host:port` for CONNECT.
    package internal(set) var url: String
    package let origin: Origin
    package internal(set) var route: String?
    var sharedPolicy: SharedPolicy
    package var policy: Policy { sharedPolicy.policy }
    package internal(set) var client: Client
    package internal(set) var attemptCount: Int
    package internal(set) var automaticLeft: Int?
    package let createdAt: Timestamp
    package let parkedAt: Timestamp
    /// When it goes by itself, if nothing else happens before. Nil: not while things stand as they are.
    package internal(set) var nextAttemptAt: Timestamp?
    /// When its client gets a 504 or its life ends, whichever is first.
    package internal(set) var expiresAt: Timestamp
    @Boxed package internal(set) var lastFailure: Failure?
    package internal(set) var lastFailureAt: Timestamp?
    package internal(set) var requestByteCount: Int
    package internal(set) var isBodyReplayable: Bool
    package internal(set) var hasIdempotencyKey = false
    /// Whether any attempt so far may have been applied.
    package internal(set) var mayHaveBeenApplied = false
    /// Whether it carries a body or credentials over plain http: a captive portal must not get it.
    package let isExposed: Bool
    /// 0 (first) to 7 (last) among the entries of its origin (RFC 9218).
    package internal(set) var priority: Int
    /// The entries among which it keeps its order; nil: none.
    package internal(set) var lane: String?
    /// Not nil when nobody holds it: it is kept in the store, and its answer too.
    package internal(set) var ticket: TicketFacts?
    /// The outage it waits in.
    package internal(set) var incident: IncidentID?
    /// Its attempts so far.
    package internal(set) var attempts = AttemptLog()
    /// The newer request that took its place.
    @Boxed package internal(set) var supersededBy: EntryID?
    /// Why it does not go on although its client has left under `clientGone: adopt`.
    package internal(set) var adoptionObstacle: AdoptionObstacle?
    /// When it came to its end.
    package internal(set) var endedAt: Timestamp?

    /// Order of arrival in the set.
    let sequence: Int
    /// The wait that nothing but time ends early. Its own due time.
    var dueAt: Timestamp
    /// Whether the opening of the gate ends the wait.
    var waitsForOrigin: Bool
    /// Whether it waits because of a status: then reachability says nothing about it.
    var waitsForStatus = false
    /// What the budget gave for the retry of a status.
    var grant: RetryBudget.Grant?
    /// Whether a person stopped its automatic attempts; it stays so over attempts that a person asks for.
    var isHeldBack = false
    /// Set when something said that it may go: a trigger, or its due time.
    var eligibleBy: AttemptTrigger?
    /// Whether the attempt under way tests the way to an origin whose gate is shut.
    var isCanary = false
    /// Whether a person asked for the attempt under way.
    var isAskedFor = false
    /// Whether a person took the risk that it acts twice, and no attempt has come of that yet.
    package internal(set) var isForced = false
    /// Whether the attempt under way is to be made anew if it has not connected yet.
    var isAbandoned = false
    /// Whether it has to come after others, and is in no heap meanwhile.
    var isBlocked = false
    /// Whether its lane knows that its turn is to come.
    var isLinedUp = false
    /// Whether no byte of it has ever been handed to the kernel.
    var isNeverSent = true
    /// Whether a person asked for it while it was blocked.
    var isWanted = false
    /// Whether it is about to become a ticket: nothing is done with it until that is on disk.
    var isBeingStored = false
    /// Whether its client waits on its connection.
    var isHeldByClient = true
    /// Whether a person set its deadline, so that a policy does not.
    var hasOwnDeadline = false
    /// Whether a person or its client set its priority, so that a policy does not.
    var hasOwnPriority = false
    /// Whether its client wants a ticket when its time on the connection is over.
    var ticketWish = TicketWish.none
    /// Grows whenever the entry is put somewhere else, so that what a heap says of it can be known for stale.
    var placement = 0

    /// What its client wants when its time on the connection is over.
    enum TicketWish: Sendable {
        /// An answer that says so.
        case none
        /// A ticket.
        case ticket
        /// A ticket, and it was offered one: what becomes of that is still to be heard.
        case offered
    }

    /// Whether its body is so big that it must not take all the room of its origin.
    var isBig: Bool { requestByteCount > OriginLine.bigByteCount }

    /// Whether sending it twice does no harm: by its own nature, or by the word of its policy as that is now.
    package var isRepeatable: Bool {
        Repeatability(method: method, origin: origin, hasIdempotencyKey: hasIdempotencyKey, policy: policy).mayBeSentTwice
    }

    /// Whether sending it once more might act twice, and nothing and nobody takes that upon itself.
    var isRisky: Bool { mayHaveBeenApplied && !isForced && !isRepeatable }

    /// Whether a person asked for an attempt that is still to be made, or is under way.
    var isAttemptAskedFor: Bool { eligibleBy == .admin || isWanted || state == .attempting && isAskedFor }

    /// Whether reachability ends its wait.
    // mutant: impatient-status
    var isWokenByReachability: Bool { policy.wakeOnReachable && !waitsForStatus }

    /// The commands that are allowed now.
    package var actions: [EntryCommand] {
        switch state {
        case .waiting: [.retry, .cancel, .hold]
        case .attempting: [.cancel]
        case .held: [.retry, .cancel, .release]
        // mutant: retry-is-force
        case .undecided: why == .maybeApplied ? [.force, .cancel] : [.retry, .cancel]
        case .delivered, .cancelled, .expired, .failed: []
        }
    }

    /// About so many bytes of memory, for limits: what it holds in a row and the texts and attempts beside it.
    package var memoryByteCount: Int {
        let texts = [url, lane, client.userAgent, lastFailure?.message].reduce(0) { $0 + ($1?.utf8.count ?? 0) }
        return MemoryLayout<Entry>.size + texts + attempts.records.count * (MemoryLayout<AttemptRecord>.stride + 128)
            + (ticket?.parents.count ?? 0) * MemoryLayout<EntryID>.stride
    }
}
