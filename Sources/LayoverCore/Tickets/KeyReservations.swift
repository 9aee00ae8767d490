/// Which request goes, of those that ask with one `Idempotency-Key` at the same time.
///
/// The store knows the keys of tickets. A request that waits on its connection before it becomes a ticket is in no store,
/// so its key is reserved here, before its first attempt. The first that asks reserves the key and goes. The others join
/// it: an equal one gets the outcome of the one that goes, one with another payload is refused at once.
///
/// A reservation is:
/// - *looking*: the store is being asked for a ticket with this key. Exits: a ticket is found (all get it, the key is free);
///   there is none (*going*). A search that fails proves nothing, so the store is asked again, and requests whose time is over
///   meanwhile are refused. A request that the store inserts before it is sent goes on: the insertion compares the key too.
/// - *going*: one request is on its way. Exits: it has an outcome that others can be given (they get it, the key is free); it
///   ends without one, as its client left or its body never came whole (the oldest that joined goes in its place); it ends
///   and no request joined (the key is free).
///
/// Three rules. No request is sent while it is unknown whether its key has a ticket. At most one request of a key goes at a time.
/// No request is given an outcome without the payload that it belongs to: where the body of the one that went never came whole,
/// equality cannot be decided, so there is no outcome to give.
/// A request that joined while its own body was still arriving is given outcome and payload, and compares at its end.
package struct KeyReservations: Sendable {
    /// One request that asked for a key. The number is never used again.
    package struct Claim: Hashable, Sendable {
        package var number: Int

        package init(number: Int) { self.number = number }
    }

    package typealias Key = [UInt8]
    package typealias Payload = [UInt8]

    package enum Action: Hashable, Sendable {
        /// Ask the store for a ticket with this key; `looked` or `lookFailed` follows.
        case look(Claim, Key)
        /// The same, after a pause.
        case lookAgain(Claim, Key)
        /// The store could not be searched. The request waits until it can be, or until its time is over (`waitEnded`).
        case waitForStore(Claim)
        /// The time of the request is over, and the store could not be searched. The claim is over.
        case refuseUnknown(Claim)
        /// The request goes.
        case go(Claim)
        /// The request waits for the outcome of another one.
        case join(Claim)
        /// The one that goes has another payload. The claim is over.
        case refuse(Claim)
        /// Too many wait. The claim is over.
        case refuseByLimit(Claim, value: Int)
        /// One that joined has waited as long as its client wants, so the one that goes is to become a ticket.
        case offerTicket(Claim)
        /// The outcome at hand, and the payload that it belongs to. The claim is over.
        case share(Claim, Payload)
        /// The client of the one that goes is gone, and its response is read for others.
        case shared(Claim)
        /// The client of the one that goes is gone, and no other request waits for its outcome.
        case unshared(Claim)
    }

    private enum Phase { case looking, going }

    /// The search for the key in the store, before the request is sent.
    package enum Search: Sendable {
        /// No search: there is no store, so there are no tickets.
        case none
        /// The store is asked whether a ticket has the key.
        case needed
        /// As `needed`, but the insertion into the store, which comes before the request is sent, finds it out as well.
        case repeatedByInsertion
    }

    private struct Reservation {
        var leader: Claim
        var phase: Phase
        /// Whether the store said that it has no ticket with this key.
        var hasLooked = false
        /// Whether the last search of the store failed, so that it is unknown whether the key has a ticket.
        var isUnknown = false
        var isTicketOffered = false
        /// Whether the client of the leader is gone, and its attempt goes on for those that joined only.
        var isForOthers = false
        /// Those that wait for the outcome of the leader, the oldest first.
        var joined: [Claim] = []
    }

    private struct ClaimFacts {
        var key: Key
        /// Nil while the body of the request is arriving.
        var payload: Payload?
        var search: Search
        /// Whether the client has waited as long as it wants.
        var isDue = false
    }

    /// Most requests that wait for the outcome of others. Default: that of `PendingLimits.heldClientCountMax`.
    private let joinedCountMax: Int
    private var reservations: [Key: Reservation] = [:]
    private var claims: [Claim: ClaimFacts] = [:]
    /// Requests that wait for the outcome of others now.
    private(set) var joinedCount = 0

    package init(joinedCountMax: Int = PendingLimits().heldClientCountMax) {
        self.joinedCountMax = joinedCountMax
    }

    /// Keys that are reserved now.
    package var count: Int { reservations.count }

    // MARK: Facts

    /// A request asks for its key, before anything of it is sent.
    ///
    /// - Parameters:
    ///   - payload: Nil while its body is arriving; `completed` follows then.
    ///   - search: Whether the store is to be asked for a ticket first.
    package mutating func asked(_ claim: Claim, key: Key, payload: Payload?, search: Search) -> [Action] {
        guard claims[claim] == nil else { return [] }
        guard let reservation = reservations[key] else {
            claims[claim] = ClaimFacts(key: key, payload: payload, search: search)
            reservations[key] = Reservation(leader: claim, phase: .going)
            return goes(claim, key)
        }
        // While the store is searched, it is unknown which of the two the key was used for.
        if reservation.phase == .going, let payload, let other = claims[reservation.leader]?.payload, payload != other {
            return [.refuse(claim)]
        }
        guard joinedCount < joinedCountMax else { return [.refuseByLimit(claim, value: joinedCountMax)] }
        claims[claim] = ClaimFacts(key: key, payload: payload, search: search)
        reservations[key]?.joined.append(claim)
        joinedCount += 1
        if reservation.isUnknown { return [.join(claim), .waitForStore(claim)] }
        // mutant: key-unreserved
        return [.join(claim)]
    }

    /// The key of a request for which the store is being searched; nil where no result is awaited.
    private func searchedKey(of claim: Claim) -> Key? {
        guard let key = claims[claim]?.key, let reservation = reservations[key], reservation.leader == claim,
            reservation.phase == .looking
        else { return nil }
        return key
    }

    /// The store answered.
    ///
    /// - Parameter found: The payload of the ticket that has the key; nil if no ticket has it.
    package mutating func looked(_ claim: Claim, found: Payload?) -> [Action] {
        guard let key = searchedKey(of: claim) else { return [] }
        if let found {
            claims[claim] = nil
            return [.share(claim, found)] + shareWithJoined(of: key, found)
        }
        reservations[key]?.hasLooked = true
        return lets(claim, go: key)
    }

    /// The store could not be searched: unknown is not "none", because the ticket of an earlier request may be there.
    package mutating func lookFailed(_ claim: Claim) -> [Action] {
        guard let key = searchedKey(of: claim), let reservation = reservations[key] else { return [] }
        // mutant: unknown-is-none
        guard claims[claim]?.search != .repeatedByInsertion else { return lets(claim, go: key) }
        reservations[key]?.isUnknown = true
        let all = [claim] + reservation.joined
        var actions: [Action] = reservation.isUnknown ? [] : all.map { .waitForStore($0) }
        // The leader comes last: only the next one of those that still have time is to take its place.
        for due in all.reversed() where claims[due]?.isDue == true { actions += refuseUnknown(due) }
        return claims[claim] == nil ? actions : actions + [.lookAgain(claim, key)]
    }

    /// The body of a request has come whole.
    package mutating func completed(_ claim: Claim, payload: Payload) -> [Action] {
        guard let key = claims[claim]?.key else { return [] }
        claims[claim]?.payload = payload
        return compare(key)
    }

    /// The client of one that joined has waited as long as it wants, and takes a ticket now; or the time of one that waits for the
    /// store is over.
    package mutating func waitEnded(_ claim: Claim) -> [Action] {
        guard let key = claims[claim]?.key, let reservation = reservations[key] else { return [] }
        claims[claim]?.isDue = true
        if reservation.phase == .looking, reservation.isUnknown { return refuseUnknown(claim) }
        return compare(key)
    }

    /// The client of one that goes is gone, and its response has begun.
    package mutating func clientLeft(_ claim: Claim) -> [Action] {
        guard let key = claims[claim]?.key, let reservation = reservations[key], reservation.leader == claim else { return [] }
        reservations[key]?.isForOthers = true
        // mutant: shared-with-nobody
        return [reservation.joined.isEmpty ? .unshared(claim) : .shared(claim)]
    }

    /// The client of one that goes is gone, and its time is over.
    ///
    /// - Returns: Whether others wait for its outcome. Then `unshared` follows when the last of them leaves.
    package mutating func isAwaited(_ claim: Claim) -> Bool {
        guard let key = claims[claim]?.key, let reservation = reservations[key], reservation.leader == claim,
            !reservation.joined.isEmpty
        else { return false }
        reservations[key]?.isForOthers = true
        return true
    }

    /// A request is over.
    ///
    /// - Parameter hasOutcome: Whether it has come to something that others can be given. What one that joined came to is
    ///   given to no request.
    package mutating func ended(_ claim: Claim, hasOutcome: Bool) -> [Action] {
        guard let facts = claims.removeValue(forKey: claim), let reservation = reservations[facts.key] else {
            return []
        }
        guard reservation.leader == claim else {
            leave(claim, facts.key)
            return reservation.isForOthers && reservation.joined == [claim] ? [.unshared(reservation.leader)] : []
        }
        if hasOutcome, let payload = facts.payload { return shareWithJoined(of: facts.key, payload) }
        guard let next = reservation.joined.first else {
            reservations[facts.key] = nil
            return []
        }
        leave(next, facts.key)
        reservations[facts.key]?.leader = next
        reservations[facts.key]?.isTicketOffered = false
        reservations[facts.key]?.isForOthers = false
        return goes(next, facts.key) + compare(facts.key)
    }

    // MARK: Parts

    private mutating func goes(_ claim: Claim, _ key: Key) -> [Action] {
        let looks = claims[claim]?.search != Search.none && reservations[key]?.hasLooked == false
        reservations[key]?.phase = looks ? .looking : .going
        return looks ? [.look(claim, key)] : [.go(claim)]
    }

    /// The search for the key is over. Requests that have joined wait for the outcome of this one, and no longer for the store.
    private mutating func lets(_ claim: Claim, go key: Key) -> [Action] {
        let wasUnknown = reservations[key]?.isUnknown == true
        reservations[key]?.phase = .going
        reservations[key]?.isUnknown = false
        let joined = wasUnknown ? reservations[key]?.joined ?? [] : []
        return [.go(claim)] + joined.map { .join($0) } + compare(key)
    }

    /// Nothing of the request was sent, so the next one takes its place.
    private mutating func refuseUnknown(_ claim: Claim) -> [Action] {
        [.refuseUnknown(claim)] + ended(claim, hasOutcome: false)
    }

    private mutating func shareWithJoined(of key: Key, _ payload: Payload) -> [Action] {
        let joined = reservations.removeValue(forKey: key)?.joined ?? []
        joinedCount -= joined.count
        for claim in joined { claims[claim] = nil }
        return joined.map { .share($0, payload) }
    }

    private mutating func leave(_ claim: Claim, _ key: Key) {
        reservations[key]?.joined.removeAll { $0 == claim }
        joinedCount -= 1
    }

    /// Refuses joined requests with another payload. Offers the leader a ticket if an equal request is due.
    private mutating func compare(_ key: Key) -> [Action] {
        guard let reservation = reservations[key], reservation.phase == .going,
            let payload = claims[reservation.leader]?.payload
        else { return [] }
        var actions: [Action] = []
        for claim in reservation.joined {
            guard let facts = claims[claim], let own = facts.payload else { continue }
            if own != payload {
                claims[claim] = nil
                leave(claim, key)
                actions.append(.refuse(claim))
            } else if facts.isDue, reservations[key]?.isTicketOffered == false {
                reservations[key]?.isTicketOffered = true
                actions.append(.offerTicket(reservation.leader))
            }
        }
        // Those that wait for it were none of them equal.
        if !actions.isEmpty, let left = reservations[key], left.isForOthers, left.joined.isEmpty { actions.append(.unshared(left.leader)) }
        return actions
    }
}
