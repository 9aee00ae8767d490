/// All that waits for one origin, and the origin's gate.
struct OriginLine: Sendable {
    /// Order among entries that may go: the lower priority number first, then who came first.
    struct Turn: Comparable, Sendable {
        var priority: Int
        var sequence: Int

        static func < (lhs: Self, rhs: Self) -> Bool {
            (lhs.priority, lhs.sequence) < (rhs.priority, rhs.sequence)
        }
    }

    var gate: OriginGate
    /// Live entries, whatever their state.
    var entryCount = 0
    /// Replays under way.
    var underWay = 0
    /// Fresh attempts under way, as far as the loops told.
    var freshUnderWay = 0
    /// Entries that something said may go.
    var eligible = PendingHeap<Turn, EntryPlace>()
    /// Entries that the opening of the gate sets free, by their own due time.
    var blocked = PendingHeap<Timestamp, EntryPlace>()
    /// What the loops were told last.
    var notice = OriginNotice.forgotten
}
