/// `coalesce: lastPut`: a PUT takes the place of an older one that was never sent.
///
/// Both put a whole representation at the same URL, so the older one would be overwritten anyway (RFC 9110
/// section 9.3.4), and both say the same about the state they expect. The newer one keeps its own turn. An older one
/// goes its way where dropping it might be noticed: if anything but a PUT came in between, to the same URL or in the
/// same lane; if a byte of it may have left; if other tickets wait for its answer; and if it is a ticket and the newer one
/// is not, because what is accepted must not be lost with a client's connection.
extension PendingSet {
    /// An entry has joined: perhaps an older one need not be sent any more.
    ///
    /// - Parameter preconditions: What it expects of its target, as text that is equal for equal expectations.
    mutating func coalesce(_ id: EntryID, preconditions: String?, now: Timestamp) {
        guard let older = noteForCoalescing(id, preconditions: preconditions), let entry = entries[id],
            older.lane == entry.lane, older.preconditions == preconditions,
            mayTakePlaces(entry), mayBeSuperseded(older.id, by: entry)
        else { return }
        entries[older.id]?.supersededBy = id
        finish(older.id, as: .cancelled, now: now)
        actions.append(.end(older.id, .superseded(by: id)))
    }

    /// - Returns: The newest PUT to its URL before it, if nothing but PUTs came since.
    mutating func noteForCoalescing(_ id: EntryID, preconditions: String?) -> PutMark? {
        guard let entry = entries[id] else { return nil }
        guard entry.method == "PUT" else {
            if let lane = entry.lane { lanes[lane]?.lastOtherSequence = entry.sequence }
            lastPuts[entry.url] = nil
            return nil
        }
        let older = lastPuts.removeValue(forKey: entry.url)
        guard entry.policy.coalesce == .lastPut else { return nil }
        lastPuts[entry.url] = PutMark(
            id: id, sequence: entry.sequence, lane: entry.lane, preconditions: preconditions)
        guard let older, older.sequence < entry.sequence else { return nil }
        if let lane = entry.lane, let line = lanes[lane], line.lastOtherSequence > older.sequence { return nil }
        return older
    }

    /// Whether it will be sent if nothing else happens.
    private func mayTakePlaces(_ entry: Entry) -> Bool {
        entry.state == .waiting && parentsLeft[entry.id] == nil
    }

    private func mayBeSuperseded(_ id: EntryID, by newer: Entry) -> Bool {
        guard let older = entries[id], older.state == .waiting || older.state == .held else { return false }
        return older.isNeverSent && !older.isBeingStored && children[id] == nil
            && (older.ticket == nil || newer.ticket != nil)
    }
}
