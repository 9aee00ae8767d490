/// Which request goes, of those that ask with one `Idempotency-Key` at the same time.
///
/// The store knows the keys of tickets. A request that waits on its connection before it becomes a ticket is in no store,
/// so its key is reserved here, before its first attempt. The first that asks reserves the key and goes. The others join
/// it: an equal one gets the outcome of the one that goes, one with another payload is refused at once.
///
/// A reservation is:
/// - *looking*: the store is being asked for a ticket with this key. Exits: a ticket is found (all get it, the key is free);
///   there is none (*going*).
/// - *going*: one request is on its way. Exits: it has an outcome that others can be given (they get it, the key is free); it
///   ends without one, as its client left or its body never came whole (the oldest that joined goes in its place); it ends
///   and no request joined (the key is free).
///
/// Two rules. At most one request of a key goes at a time. No request is given an outcome without the payload that it
/// belongs to: where the body of the one that went never came whole, equality cannot be decided, so there is no outcome to
/// give. A request that joined while its own body was still arriving is given outcome and payload, and compares at its end.
package struct KeyReservations: Sendable {
    /// One request that asked for a key. The number is never used again.
    package struct Claim: Hashable, Sendable {
        package var number: Int

        package init(number: Int) { self.number = number }
    }

    package typealias Key = [UInt8]
    package typealias Payload = [UInt8]

    package enum Action: Hashable, Sendable {
        /// Ask the store for a ticket with this key; `looked` follows.
        case look(Claim, Key)
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
    }

    private enum Phase { case looking, going }

    private struct Reservation {
        var leader: Claim
        var phase: Phase
        /// Whether the store said that it has no ticket with this key.
        var hasLooked = false
        var isTicketOffered = false
        /// Those that wait for the outcome of the leader, the oldest first.
        var joined: [Claim] = []
    }

    private struct Standing {
        var key: Key
        /// Nil while the body of the request is arriving.
        var payload: Payload?
        /// Whether the store is to be asked before it goes.
        var looks: Bool
        /// Whether its client has waited as long as it wants.
        var isDue = false
    }

    /// Most requests that wait for the outcome of others. Default: that of `PendingLimits.heldClientCountMax`.
    private let joinedCountMax: Int
    private var reservations: [Key: Reservation] = [:]
    private var standings: [Claim: Standing] = [:]
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
    ///   - looks: Whether the store is to be asked for a ticket first. Not where there is no store.
    package mutating func asked(_ claim: Claim, key: Key, payload: Payload?, looks: Bool) -> [Action] {
        guard standings[claim] == nil else { return [] }
        guard let reservation = reservations[key] else {
            standings[claim] = Standing(key: key, payload: payload, looks: looks)
            reservations[key] = Reservation(leader: claim, phase: .going)
            return goes(claim, key)
        }
        // While the store is searched, it is unknown which of the two the key was used for.
        if reservation.phase == .going, let payload, let other = standings[reservation.leader]?.payload, payload != other {
            return [.refuse(claim)]
        }
        guard joinedCount < joinedCountMax else { return [.refuseByLimit(claim, value: joinedCountMax)] }
        standings[claim] = Standing(key: key, payload: payload, looks: looks)
        reservations[key]?.joined.append(claim)
        joinedCount += 1
        // mutant: key-unreserved
        return [.join(claim)]
    }

    /// The store answered.
    ///
    /// - Parameter found: The payload of the ticket that has the key; nil: there is none, or the store cannot be read, and then
    ///   no ticket can be made either.
    package mutating func looked(_ claim: Claim, found: Payload?) -> [Action] {
        guard let key = standings[claim]?.key, let reservation = reservations[key], reservation.leader == claim,
            reservation.phase == .looking
        else { return [] }
        if let found {
            standings[claim] = nil
            return [.share(claim, found)] + shareWithJoined(of: key, found)
        }
        reservations[key]?.phase = .going
        reservations[key]?.hasLooked = true
        return [.go(claim)] + compare(key)
    }

    /// The body of a request has come whole.
    package mutating func completed(_ claim: Claim, payload: Payload) -> [Action] {
        guard let key = standings[claim]?.key else { return [] }
        standings[claim]?.payload = payload
        return compare(key)
    }

    /// The client of one that joined has waited as long as it wants, and takes a ticket now.
    package mutating func waitEnded(_ claim: Claim) -> [Action] {
        guard let key = standings[claim]?.key else { return [] }
        standings[claim]?.isDue = true
        return compare(key)
    }

    /// A request is over.
    ///
    /// - Parameter hasOutcome: Whether it has come to something that others can be given. What one that joined came to is
    ///   given to no request.
    package mutating func ended(_ claim: Claim, hasOutcome: Bool) -> [Action] {
        guard let standing = standings.removeValue(forKey: claim), let reservation = reservations[standing.key] else {
            return []
        }
        guard reservation.leader == claim else {
            leave(claim, standing.key)
            return []
        }
        if hasOutcome, let payload = standing.payload { return shareWithJoined(of: standing.key, payload) }
        guard let next = reservation.joined.first else {
            reservations[standing.key] = nil
            return []
        }
        leave(next, standing.key)
        reservations[standing.key]?.leader = next
        reservations[standing.key]?.isTicketOffered = false
        return goes(next, standing.key) + compare(standing.key)
    }

    // MARK: Parts

    private mutating func goes(_ claim: Claim, _ key: Key) -> [Action] {
        let looks = standings[claim]?.looks == true && reservations[key]?.hasLooked == false
        reservations[key]?.phase = looks ? .looking : .going
        return looks ? [.look(claim, key)] : [.go(claim)]
    }

    private mutating func shareWithJoined(of key: Key, _ payload: Payload) -> [Action] {
        let joined = reservations.removeValue(forKey: key)?.joined ?? []
        joinedCount -= joined.count
        for claim in joined { standings[claim] = nil }
        return joined.map { .share($0, payload) }
    }

    private mutating func leave(_ claim: Claim, _ key: Key) {
        reservations[key]?.joined.removeAll { $0 == claim }
        joinedCount -= 1
    }

    /// Refuses those that are known to be another request, and hastens the one that goes for those that are equal and due.
    private mutating func compare(_ key: Key) -> [Action] {
        guard let reservation = reservations[key], reservation.phase == .going,
            let payload = standings[reservation.leader]?.payload
        else { return [] }
        var actions: [Action] = []
        for claim in reservation.joined {
            guard let standing = standings[claim], let own = standing.payload else { continue }
            if own != payload {
                standings[claim] = nil
                leave(claim, key)
                actions.append(.refuse(claim))
            } else if standing.isDue, reservations[key]?.isTicketOffered == false {
                reservations[key]?.isTicketOffered = true
                actions.append(.offerTicket(reservation.leader))
            }
        }
        return actions
    }
}
