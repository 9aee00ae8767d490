/// The client of an entry is gone, and its attempt goes on because it may have been applied.
package struct AttemptBecameUnattended: PostedFact {
    let id: EntryID
    let limit: Duration

    /// - Parameter limit: How long the attempt may go on.
    package init(_ id: EntryID, for limit: Duration) {
        self.id = id
        self.limit = limit
    }

    package func apply(to set: inout PendingSet, now: Timestamp, using _: inout some RandomNumberGenerator) {
        guard let entry = set.entries[id], entry.attempt != nil, case .client = entry.owner else { return }
        set.leaveOrigin(entry)
        set.leaveIncident(id, now: now)
        set.amend(id) { entry in
            entry.changeAttempt { ($0.isCanary, $0.pause) = (false, .none) }
            entry.owner = .nobody
            entry.client.isConnected = false
            entry.expiresAt = now + limit
        }
        set.change(id)
        set.originChanged(entry.origin)
        set.beginUnattended(id, now: now)
    }
}

/// It is known whether others with the key of an entry wait for its outcome: the reply to `lookForOthers`. An entry that others wait for
/// goes on, and is asked about again.
package struct OthersLookedFor: PostedFact {
    let id: EntryID
    let doWait: Bool

    package init(_ id: EntryID, doWait: Bool) {
        self.id = id
        self.doWait = doWait
    }

    package func apply(to set: inout PendingSet, now: Timestamp, using _: inout some RandomNumberGenerator) {
        guard let entry = set.entries[id], entry.isAwaitedByOthers else { return }
        guard doWait else { return set.endUnattended(id, now: now) }
        // The limit of 0 is for work that is wanted by nobody.
        let limit = entry.policy.unattendedMax
        set.change(id) { goOn(&$0, for: limit > .zero ? limit : Policy.standard.unattendedMax, from: now) }
        set.watchDeadlines(of: id, now: now)
    }
}

/// The last request that waited for the outcome of an entry with its key has left: the time of the entry without a client begins.
package struct OthersLeft: PostedFact {
    let id: EntryID

    package init(_ id: EntryID) { self.id = id }

    package func apply(to set: inout PendingSet, now: Timestamp, using _: inout some RandomNumberGenerator) {
        guard let entry = set.entries[id], entry.isAwaitedByOthers else { return }
        set.change(id) { entry in
            entry.owner = .nobody
            goOn(&entry, for: entry.policy.unattendedMax, from: now)
        }
        set.beginUnattended(id, now: now)
    }
}

/// An entry that had others who waited lives no longer than `lifetime`.
private func goOn(_ entry: inout Entry, for limit: Duration, from now: Timestamp) {
    entry.expiresAt = min(now + limit, entry.parkedAt + entry.policy.lifetime)
}

/// The entries whose attempts go on without a client, in the order in which their clients left.
///
/// Such an entry waits for nothing and is counted nowhere else: it takes no room at its origin, so that no canary and no replay waits
/// for a server that hangs, it is in no incident, and `limits.entries` and `limits.heldClients` do not know of it. Its lane still
/// waits for it: the order is that of the origin.
///
/// Others with its `Idempotency-Key` may wait for its outcome: while they do, neither `timeouts.unattended` nor `limits.unattended` ends
/// it, and it counts in `limits.entries` instead.
struct UnattendedEntries: Sendable {
    private let countMax: Int
    private var members: Set<EntryID> = []
    /// Some of them may have left.
    private var order: [EntryID] = []
    /// What is before this place has left.
    private var first = 0

    init(countMax: Int) { self.countMax = countMax }

    var count: Int { members.count }

    mutating func join(_ id: EntryID) {
        guard members.insert(id).inserted else { return }
        order.append(id)
    }

    mutating func leave(_ id: EntryID) {
        guard members.remove(id) != nil else { return }
        skipGone()
        // Those that left are forgotten once they are most of the list.
        guard order.count > 64 + 2 * members.count else { return }
        order = order[first...].filter(members.contains)
        first = 0
    }

    /// The oldest, where there are more than `limits.unattended` allows.
    // mutant: unattended-over-the-limit
    var surplus: EntryID? { members.count > countMax ? order[first] : nil }

    private mutating func skipGone() { while first < order.count, !members.contains(order[first]) { first += 1 } }
}
