/// What is kept from the store while it takes no marks.
///
/// An attempt of a ticket is marked on disk before its first byte leaves. While the disk takes no marks each of them would
/// only find that out once more, and as the canary of its origin stand in the way of those that need no store. So tickets
/// do not go: requests that clients hold pass them, and so does what a person asks for. After a pause one ticket goes, the
/// one that has been kept longest of those whose gates let it; as soon as the store takes anything, all of them go on.
extension PendingSet {
    /// How long no ticket goes after the store did not take a mark. Default: 5 s.
    static let storePause: Duration = .seconds(5)

    /// The store did not take the mark of an attempt.
    package mutating func storeRefused(now: Timestamp) -> [PendingAction] {
        gather(now: now) { set in
            let until = now + Self.storePause
            set.storeTrouble = StoreTrouble(until: until)
            set.timers.push(.store, key: until)
        }
    }

    /// The store took something.
    package mutating func storeIsWell(now: Timestamp) -> [PendingAction] {
        guard storeTrouble != nil else { return [] }
        return gather(now: now) { set in
            set.storeTrouble = nil
            for origin in set.lines.keys.sorted(by: Origin.isBefore) { set.releaseKept(origin) }
        }
    }

    private mutating func releaseKept(_ origin: Origin) {
        guard var kept = lines[origin]?.keptFromStore, kept.count > 0 else { return }
        lines[origin]?.keptFromStore = PendingHeap()
        while let (_, place) = kept.popFirst() {
            guard isCurrent(place) else { continue }
            // It was eligible or waited for the gate; either way its turn had come.
            let trigger = entries[place.id]?.eligibleBy ?? .reachability
            entries[place.id]?.eligibleBy = nil
            makeEligible(place.id, by: trigger)
        }
        toDispatch.insert(origin)
    }

    /// Until when nothing brings an entry to go by itself, because of the store; nil: the store does not matter to it.
    func storePauseEnd(of entry: Entry) -> Timestamp? { isKeptFromStore(entry) ? storeTrouble?.until : nil }

    /// Whether an entry does not go because its attempt could not be marked. A person's word counts more.
    func isKeptFromStore(_ entry: Entry) -> Bool {
        storeTrouble != nil && entry.ticket != nil && entry.eligibleBy != .admin
    }

    /// Puts an entry aside whose turn has come.
    mutating func keepFromStore(_ place: EntryPlace, of origin: Origin) {
        keptCount += 1
        let order = keptCount
        line(of: origin) { $0.keptFromStore.push(place, key: order) }
    }

    /// When the pause is over: lets one of those that were kept find out whether the store is well again. Whoever finds out
    /// that it is not, or comes to nothing before, goes behind the others.
    mutating func askStore(now: Timestamp) {
        guard let trouble = storeTrouble, trouble.until <= now, !isAtRest,
            trouble.probe.flatMap({ entries[$0]?.state }) != .attempting
        else { return }
        while let origin = originToAskStore(now: now), let (_, place) = lines[origin]?.keptFromStore.popFirst() {
            guard mayGo(place, now: now, asksStore: true) else { continue }
            storeTrouble?.probe = place.id
            let isShut = lines[origin]?.gate.isShut ?? false
            return start(place.id, trigger: entries[place.id]?.eligibleBy ?? (isShut ? .canary : .reachability), now: now)
        }
    }

    /// Whose gate lets one go, and who has one that was kept longer than those of the others.
    private func originToAskStore(now: Timestamp) -> Origin? {
        var first: (origin: Origin, order: Int)?
        for (origin, line) in lines {
            guard let order = line.keptFromStore.first?.key, order < first?.order ?? .max, line.admits(now: now) else { continue }
            first = (origin, order)
        }
        return first?.origin
    }
}
