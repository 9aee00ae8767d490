/// What an entry waits for and when it goes: what depends on other entries, on its origin and on the time.
struct Outlook: Sendable {
    var waitingFor: WaitReason?
    var nextAttemptAt: Timestamp?
    var willGo: WillGo?
    var waitingOn: EntryID?
    var progress: AttemptProgress?
    var shutParentProxyGate: Origin?

    /// The outlook of an entry of the set at a moment.
    static func of(_ entry: Entry, in set: PendingSet, now: Timestamp) -> Outlook {
        var outlook = Outlook()
        if entry.state == .waiting { (outlook.waitingFor, outlook.nextAttemptAt) = wait(of: entry, in: set, now: now) }
        outlook.shutParentProxyGate = entry.parentProxyGate.flatMap { set.origins.isShut($0) ? $0 : nil }
        outlook.willGo = willGo(entry, in: set, now: now)
        outlook.waitingOn = waitingOn(entry, outlook.waitingFor, in: set)
        return outlook
    }

    /// What a waiting entry waits for, and when it goes by itself.
    static func wait(of entry: Entry, in set: PendingSet, now: Timestamp) -> (WaitReason, Timestamp?) {
        if let blocker = set.blocker(of: entry) { return (blocker, nil) }
        if set.mode == .offline || set.pauses.mustWaitForPortal(entry) { return (.network, nil) }
        let gate = set.origins.shutGate(before: entry)
        let isShut = gate != nil
        let pauseEnd = set.pauses.isPausedByStore(entry) ? set.pauses.storePauseEnd ?? now : now
        let isFree = entry.eligibleBy != nil || isShut && entry.isWokenByOrigin
        let mayGoAt = max(isFree ? now : entry.dueAt, pauseEnd)
        if isShut {
            return (set.isNetworkAway ? .network : .origin, max(mayGoAt, gate.flatMap { set.origins.canaryAt($0) } ?? now))
        }
        let end = set.origins.pauseEnd(of: entry, now: now) ?? now
        if end > now, mayGoAt <= end { return (.pause, end) }
        // After the end of a pause, and in want of the budget, it waits for others.
        if entry.eligibleBy != nil, set.origins[entry.origin].putsAside(entry, now: now) { return (.pause, nil) }
        return (entry.eligibleBy == nil || pauseEnd > now ? .time : .turn, mayGoAt)
    }

    /// What the attempt that a person asked for waits for; nil if no one asked for one, and if it waits for a ticket that the
    /// entry depends on (`WaitReason.parent`).
    private static func willGo(_ entry: Entry, in set: PendingSet, now: Timestamp) -> WillGo? {
        guard entry.isAttemptAskedFor else { return nil }
        if entry.state == .attempting { return .now }
        // Before the lane: offline, the requests before it do not go either.
        if set.mode == .offline { return .modeEnds }
        guard let blocker = set.blocker(of: entry) else {
            return set.origins.pauseEnd(of: entry, now: now) == nil ? .windowOpens : .pauseEnds
        }
        if blocker == .parent { return nil }
        // What no other request blocks is being written to disk.
        return blocker == .lane ? .laneFree : .pauseEnds
    }

    /// The entry that has to be done before this one: the front of its lane, or the first of its parents.
    private static func waitingOn(_ entry: Entry, _ reason: WaitReason?, in set: PendingSet) -> EntryID? {
        switch reason {
        case .lane: set.areLanesUnknown ? nil : entry.lane.flatMap { set.lanes.first(of: $0) }
        case .parent: set.dependencies.parentsLeft[entry.id]?.min(by: set.entries.isBefore)
        case .time, .network, .origin, .turn, .pause, nil: nil
        }
    }
}
