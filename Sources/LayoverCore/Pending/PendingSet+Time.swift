extension PendingSet {
    /// Does what is due.
    package mutating func advance(to now: Timestamp) -> [PendingAction] {
        gather(now: now) { set in
            var touched: Set<Origin> = []
            while let next = set.timers.first, next.key <= now, let (at, timer) = set.timers.popFirst() {
                switch timer {
                case .due(let place):
                    guard set.isCurrent(place), let origin = set.entries[place.id]?.origin else { continue }
                    set.makeEligible(place.id, by: .dueTime)
                    touched.insert(origin)
                case .expiry(let id):
                    set.expire(id, now: now)
                case .credentials(let id):
                    set.credentialsExpired(id, now: now)
                case .incident(let id):
                    set.tellIncident(id, now: now)
                // At the end of the fact it is seen that the pause is over.
                case .store: break
                case .canary(let origin):
                    guard set.lines[origin]?.gate.canaryAt == at else { continue }
                    touched.insert(origin)
                }
            }
            for origin in touched.sorted(by: Origin.isBefore) { set.dispatch(origin, now: now) }
        }
    }

    /// An attempt in flight is let finish; if it fails, the entry ends then.
    mutating func expire(_ id: EntryID, now: Timestamp) {
        // A reload may have moved the end; its own timer comes up then.
        guard let entry = entries[id], entry.state != .attempting, entry.expiresAt <= now else { return }
        endOrOfferTicket(id, now: now)
        if entries[id] == nil { announce(entry.origin) }
    }
}

extension PendingSet {
    /// An honest guess of when it is worth while for a client to come back: the gate's next canary.
    package func retryAfter(for origin: Origin, now: Timestamp) -> Duration? {
        guard let gate = lines[origin]?.gate, gate.isShut, let at = gate.canaryAt else { return nil }
        return max(.seconds(1), at - now)
    }
}
