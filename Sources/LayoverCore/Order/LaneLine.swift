/// One lane: the entries that keep their order among themselves, by their order of acceptance.
struct LaneLine: Sendable {
    /// Those whose turn is to come. Whether one has left, or is passed over, is found out when it is the first.
    private var coming = PendingHeap<Int, EntryID>()
    /// Live entries of the lane.
    var entryCount = 0
    /// Whose turn it is.
    var front: EntryID?
    /// The entry of the lane whose attempt is under way.
    var underWay: EntryID?
    /// The newest one that is no PUT; 0 if there was none.
    var lastOtherSequence = 0

    mutating func append(_ id: EntryID, sequence: Int) { coming.push(id, key: sequence) }

    var first: EntryID? { coming.first?.value }

    mutating func dropFirst() { _ = coming.popFirst() }

    /// Behind a front that stays nobody comes by to find that an entry is not there any more.
    mutating func dropStale(where isGone: (EntryID) -> Bool) {
        guard coming.count > 100 + 2 * entryCount else { return }
        coming.removeAll { isGone($1) }
    }
}
