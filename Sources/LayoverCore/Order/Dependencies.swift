/// Which tickets have to be delivered before which others.
///
/// A child waits for those of its parents that are live. A parent that ended without being delivered leaves its child to a
/// person; if that person has the child sent, the parents that have ended by then are *excused*.
struct Dependencies: Sendable {
    /// The live parents of each child that waits for one.
    private(set) var parentsLeft: [EntryID: Set<EntryID>] = [:]
    /// The children that wait for each parent.
    private(set) var children: [EntryID: Set<EntryID>] = [:]
    /// The parents that were not delivered, and without which a person had a ticket sent.
    private var excused: [EntryID: [EntryID]] = [:]

    func waits(_ id: EntryID) -> Bool { parentsLeft[id] != nil }
    func hasChildren(_ id: EntryID) -> Bool { children[id] != nil }
    func excusedParents(of id: EntryID) -> [EntryID] { excused[id] ?? [] }

    /// A child waits for those of its parents that are live.
    ///
    /// - Returns: False if one that is not excused ended without being delivered.
    mutating func join(_ child: EntryID, _ parents: [EntryID], state: (EntryID) -> EntryState) -> Bool {
        var isDependable = true
        for parent in parents {
            let state = state(parent)
            if parent != child, !state.isFinal {
                parentsLeft[child, default: []].insert(parent)
                children[parent, default: []].insert(child)
            } else if parent == child || state != .delivered {
                isDependable = isDependable && excusedParents(of: child).contains(parent)
            }
        }
        return isDependable
    }

    /// A person has a child sent: of the parents that it names, those that have ended need not be delivered any more.
    mutating func excuse(_ parents: [EntryID], of child: EntryID) {
        let left = parentsLeft[child] ?? []
        excused[child] = parents.filter { !left.contains($0) }
    }

    /// An earlier run kept them.
    mutating func restoreExcused(_ parents: [EntryID], of child: EntryID) {
        if !parents.isEmpty { excused[child] = parents }
    }

    /// A child has ended, or is no ticket after all.
    mutating func remove(_ child: EntryID) {
        excused[child] = nil
        for parent in parentsLeft.removeValue(forKey: child) ?? [] {
            children[parent]?.remove(child)
            if children[parent]?.isEmpty == true { children[parent] = nil }
        }
    }

    /// A parent has ended.
    ///
    /// - Returns: The children that waited for it, in no order.
    mutating func parentEnded(_ parent: EntryID) -> Set<EntryID> {
        let waiting = children.removeValue(forKey: parent) ?? []
        for child in waiting {
            parentsLeft[child]?.remove(parent)
            if parentsLeft[child]?.isEmpty == true { parentsLeft[child] = nil }
        }
        return waiting
    }
}
