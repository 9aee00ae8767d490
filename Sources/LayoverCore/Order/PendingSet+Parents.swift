/// Parents: tickets that have to be delivered before others.
extension PendingSet {
    /// Takes note of the parents that are still to be delivered.
    ///
    /// A parent whose place a newer request has taken stands for that one.
    ///
    /// - Parameter ended: How parents ended that this set knows nothing of; those that it does not name count as
    ///   delivered.
    /// - Returns: False if one of them ended otherwise.
    mutating func joinParents(_ id: EntryID, ended: [EntryID: EntryState] = [:]) -> Bool {
        guard let named = entries[id]?.ticket?.parents, !named.isEmpty else { return true }
        let parents = named.map(successor)
        if parents != named { change(id) { $0.ticket?.parents = parents } }
        var isOrphan = false
        for parent in parents {
            if parent != id, entries[parent] != nil {
                parentsLeft[id, default: []].insert(parent)
                children[parent, default: []].insert(id)
            } else if parent == id || (history[parent]?.state ?? ended[parent] ?? .delivered) != .delivered {
                isOrphan = isOrphan || !isExcused(parent, of: id)
            }
        }
        return !isOrphan
    }

    /// A person has an entry sent that asks because of its parents: those that have ended need not be delivered any more.
    mutating func excuseParents(of id: EntryID) {
        guard let entry = entries[id], entry.why == .parentFailed || entry.why == .maybeApplied,
            let parents = entry.ticket?.parents, !parents.isEmpty
        else { return }
        let left = parentsLeft[id] ?? []
        excusedParents[id] = parents.filter { !left.contains($0) }
    }

    /// Whether a person had an entry sent without a parent.
    func isExcused(_ parent: EntryID, of id: EntryID) -> Bool { excusedParents[id]?.contains(parent) ?? false }

    private func successor(of id: EntryID) -> EntryID {
        var id = id
        // Each is newer than the one before, so this ends.
        while let next = history[id]?.supersededBy { id = next }
        return id
    }

    /// An entry has ended: its parents need not know of it any more.
    mutating func leaveParents(_ id: EntryID) {
        excusedParents[id] = nil
        for parent in parentsLeft.removeValue(forKey: id) ?? [] {
            children[parent]?.remove(id)
            if children[parent]?.isEmpty == true { children[parent] = nil }
        }
    }

    /// A parent came to its end: its children go on, or ask.
    mutating func parentEnded(_ parent: EntryID, as state: EntryState, now: Timestamp) {
        guard let children = children.removeValue(forKey: parent) else { return }
        for child in children.sorted(by: isBefore) {
            parentsLeft[child]?.remove(parent)
            if parentsLeft[child]?.isEmpty == true { parentsLeft[child] = nil }
            if state == .delivered {
                unblock(child, now: now)
            } else {
                parentFailed(of: child, now: now)
            }
        }
    }

    /// A person decides what becomes of a ticket whose parent was not delivered. The word of a person does for that
    /// parent; for others it goes on waiting.
    mutating func parentFailed(of id: EntryID, now: Timestamp) {
        guard let entry = entries[id], entry.state != .attempting else { return }
        // What may have been applied already is past that: a retry would double it, only a force may send it.
        ask(id, entry.mayHaveBeenApplied && !entry.isRepeatable ? .maybeApplied : .parentFailed, now: now)
    }
}
