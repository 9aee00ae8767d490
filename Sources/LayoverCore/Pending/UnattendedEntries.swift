/// The entries whose attempts go on without a client, in the order in which their clients left.
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
