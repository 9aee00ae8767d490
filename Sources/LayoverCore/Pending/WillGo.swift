/// When an attempt that a person asked for is made.
package enum WillGo: String, Sendable, Hashable, CaseIterable {
    /// It is under way.
    case now
    /// When the mode is no longer `offline`.
    case modeEnds
    /// When the requests before it in its lane are done.
    case laneFree
    /// When the origin has room for another attempt.
    case windowOpens
    /// When a pause is over.
    case pauseEnds
}

extension Schedule {
    /// What the attempt that a person asked for waits for; nil if no one asked for one, and if it waits for a ticket that the
    /// entry depends on (`WaitReason.parent`).
    func willGo(_ entry: Entry, now: Timestamp) -> WillGo? {
        guard entry.isAttemptAskedFor else { return nil }
        if entry.state == .attempting { return .now }
        // Before the lane: offline, the requests before it do not go either.
        if mode == .offline { return .modeEnds }
        guard let blocker = blocker(of: entry) else {
            return origins.pause(of: entry, now: now) == nil ? .windowOpens : .pauseEnds
        }
        if blocker == .parent { return nil }
        // What no other request blocks is being written to disk.
        return blocker == .lane ? .laneFree : .pauseEnds
    }
}
