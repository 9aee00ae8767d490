/// Something that has happened to a request, an origin, the network or the proxy, and what it means to the pending set.
///
/// One type for each fact; `PendingSet.handle` applies it. Other types of this folder (`Admission`, `RetriedStatus`, `NewRoute`, the
/// commands) are what facts and commands have in common.
package protocol PendingFact: Sendable {
    /// Changes the set. What is to be done goes to `set.actions`.
    ///
    /// - Parameter generator: Randomness, for the delays of gates.
    func apply(to set: inout PendingSet, now: Timestamp, using generator: inout some RandomNumberGenerator)
}

/// A fact that loops post to the engine as it is. It concerns nothing but the set.
package protocol PostedFact: PendingFact {}

/// An exchange joins the set: the engine keeps the exchange for the actions of its entry.
package protocol JoiningFact: PendingFact {
    var new: NewEntry { get }
}

/// The time has come for what is due.
package struct TimePassed: PendingFact {
    package init() {}

    package func apply(to set: inout PendingSet, now: Timestamp, using _: inout some RandomNumberGenerator) {
        while let (at, timer) = set.timers.popDue(at: now) {
            switch timer {
            case .due(let place):
                guard set.entries.isCurrent(place), let origin = set.entries[place.id]?.origin else { continue }
                set.makeEligible(place.id, by: .dueTime)
                set.toDispatch.insert(origin)
            case .expiry(let id): set.expire(id, now: now)
            case .credentials(let id): set.credentialsExpired(id, now: now)
            case .incident(let id):
                set.incidents.dropStaleDues(of: id, memberCount: set.entries.memberCount(of: id), set.isDue(in: id))
                if let changed = set.incidents.takeChanged(id) {
                    set.actions.append(.incident(.updated, set.view(of: changed, now: now)))
                }
            // The next portion joins at the end of the fact.
            case .strays: break
            // At the end of the fact it is seen that the pause is over.
            case .store: break
            case .pause(let origin): set.toDispatch.insert(origin)
            case .canary(let origin): if set.origins.canaryAt(origin) == at { set.toDispatch.insert(origin) }
            }
        }
    }
}

/// The proxy is being stopped: nothing is parked any more, and what waits ends.
package struct DrainBegan: PendingFact {
    package init() {}

    package func apply(to set: inout PendingSet, now: Timestamp, using _: inout some RandomNumberGenerator) {
        set.isDraining = true
        for id in set.idsInOrder {
            // A ticket goes on after the next start.
            if set.entries[id]?.ticket == nil { set.endOrOfferTicket(id, now: now) }
        }
        // The loops stop too: what becomes of origins does not matter to them any more.
        set.toAnnounce = []
    }
}
