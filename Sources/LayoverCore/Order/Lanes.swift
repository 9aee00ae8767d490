/// Lanes: strict order within, independence between.
///
/// The first of a lane that has not ended, and is not passed over, is its *front*; no other of the lane may go.
/// A front that is held, or undecided where the policy does not say `skip`, keeps the others waiting.
struct Lanes: Sendable {
    private(set) var states: [String: LaneState] = [:]

    /// Whether others of its lane go before an entry.
    func blocks(_ id: EntryID, in lane: String) -> Bool {
        guard let state = states[lane] else { return false }
        if let underWay = state.underWay, underWay != id { return true }
        return state.front != id
    }

    /// The entry that all others of a lane wait for: the one that is under way, or the front.
    func first(of lane: String) -> EntryID? { states[lane].flatMap { $0.underWay ?? $0.front } }

    /// Whether a request of another kind than PUT came after a sequence.
    func hasOther(after sequence: Int, in lane: String?) -> Bool {
        lane.flatMap { states[$0] }.map { $0.lastOtherSequence >= sequence } ?? false
    }

    /// The name as it is kept already: a million copies of it would be a lot of room.
    func shared(_ lane: String) -> String { states.index(forKey: lane).map { states[$0].key } ?? lane }

    /// Whether the lane's first entry is not the one that is known as its front: a portion of a restored lane came late.
    func isBehind(_ lane: String) -> Bool { states[lane].map { $0.first != $0.front } ?? false }

    mutating func join(_ id: EntryID, _ lane: String, sequence: Int) {
        states[lane, default: LaneState()].join(id, sequence: sequence)
    }

    /// An entry that was passed over takes its place again.
    mutating func takePlaceAgain(_ id: EntryID, _ lane: String, sequence: Int) {
        states[lane]?.takePlaceAgain(id, sequence: sequence)
    }

    /// An entry has ended, or was moved to another lane.
    ///
    /// - Parameter isMember: Whether an entry is still of this lane.
    mutating func leave(_ id: EntryID, _ lane: String, isMember: (EntryID) -> Bool) {
        states[lane]?.leave(id, isMember: isMember)
        if states[lane]?.entryCount == 0 { states[lane] = nil }
    }

    mutating func attemptStarted(_ id: EntryID, _ lane: String) { states[lane]?.underWay = id }

    mutating func attemptStopped(_ id: EntryID, _ lane: String) {
        if states[lane]?.underWay == id { states[lane]?.underWay = nil }
    }

    /// Takes note of a request that is no PUT.
    mutating func noteOther(_ lane: String, sequence: Int) { states[lane]?.lastOtherSequence = sequence }

    /// Finds the front of a lane.
    ///
    /// - Parameter relation: What an entry is to its lane now.
    /// - Returns: The front; nil where no turn is to come.
    mutating func findFront(of lane: String, _ relation: (EntryID) -> LaneState.Relation) -> EntryID? {
        states[lane]?.findFront(relation)
    }
}

/// One lane: the entries that keep their order among themselves, by their order of acceptance.
struct LaneState: Sendable {
    /// The relation of an entry to its lane.
    enum Relation: Sendable { case member, passedOver, gone }

    /// Those whose turn is to come. Whether one has left, or is passed over, is found out when it is the first.
    private var coming = PendingHeap<Int, EntryID>()
    /// Members that were passed over, and are not among those to come.
    private var passedOver: Set<EntryID> = []
    /// Live entries of the lane.
    private(set) var entryCount = 0
    /// The entry whose turn it is.
    private(set) var front: EntryID?
    /// The entry whose attempt is under way.
    fileprivate(set) var underWay: EntryID?
    /// The newest one that is no PUT; 0 if there was none.
    fileprivate(set) var lastOtherSequence = 0

    var first: EntryID? { coming.first?.value }
    /// How many are to come, those that are gone included.
    var comingCount: Int { coming.count }

    fileprivate mutating func join(_ id: EntryID, sequence: Int) {
        entryCount += 1
        coming.push(id, key: sequence)
    }

    fileprivate mutating func takePlaceAgain(_ id: EntryID, sequence: Int) {
        if passedOver.remove(id) != nil { coming.push(id, key: sequence) }
    }

    fileprivate mutating func leave(_ id: EntryID, isMember: (EntryID) -> Bool) {
        entryCount -= 1
        passedOver.remove(id)
        if underWay == id { underWay = nil }
        // Behind a front that stays, entries that are gone would pile up.
        if coming.count > 100 + 2 * entryCount { coming.removeAll { !isMember($1) } }
    }

    fileprivate mutating func findFront(_ relation: (EntryID) -> Relation) -> EntryID? {
        // A lane of which nothing is to come keeps what it has: its front is found when there is one.
        guard first != nil else { return nil }
        while let id = first {
            let relation = relation(id)
            if relation == .member {
                front = id
                return id
            }
            _ = coming.popFirst()
            if relation == .passedOver { passedOver.insert(id) }
        }
        front = nil
        return nil
    }
}

/// A lane as people see it.
package struct LaneView: Sendable, Hashable {
    /// As entries show it.
    package let name: String
    /// Live entries of the lane.
    package let count: Int
    /// The entry that all others wait for; nil if no entry of the lane is to come.
    package let first: EntryID?
    package let firstState: EntryState?
    /// Whether the others wait for a person: the first is held, or undecided and not passed over.
    package let isBlocked: Bool
}

extension LaneView {
    /// - Parameter first: The entry that all others of the lane wait for.
    init(_ lane: String, _ state: LaneState, first: Entry?) {
        let waitsForAPerson = first?.state == .held || first?.state == .undecided
        self.init(
            name: first?.shownLane ?? MaskedTicketIDs.target(lane), count: state.entryCount, first: first?.id,
            firstState: first?.state, isBlocked: waitsForAPerson && state.entryCount > 1)
    }
}
