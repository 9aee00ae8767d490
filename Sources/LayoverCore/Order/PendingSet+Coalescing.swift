/// `coalesce: lastPut`: a PUT takes the place of an older one that was never sent.
///
/// Both put a whole representation at the same URL, so the older one would be overwritten anyway (RFC 9110
/// section 9.3.4), and both say the same about the state they expect. The newer one takes places once its body has
/// arrived whole, because a request that breaks off is never sent; it keeps its own turn. An older one goes its way
/// where dropping it might be noticed: if anything but a PUT came in between, to the same URL or in the same lane; if a
/// byte of it may have left; if other tickets wait for its answer; and if it is a ticket and the newer one is not,
/// because what is accepted must not be lost with a client's connection.
extension PendingSet {
    /// An entry has joined: perhaps older ones need not be sent any more.
    ///
    /// - Parameter preconditions: What it expects of its target, as text that is equal for equal expectations.
    mutating func coalesce(_ id: EntryID, preconditions: String?, now: Timestamp) {
        markForCoalescing(id, preconditions: preconditions)
        takePlaces(id, now: now)
    }

    /// An entry has joined that supersedes no other now, but may be superseded by a newer one.
    mutating func noteForCoalescing(_ id: EntryID, preconditions: String?) {
        markForCoalescing(id, preconditions: preconditions)
        if entries[id]?.isBodyReplayable == true { dropMarks(before: id) }
    }

    /// Takes the places of the PUTs to its URL before it, once it is there whole.
    mutating func takePlaces(_ id: EntryID, now: Timestamp) {
        // mutant: half-put
        guard let entry = entries[id], entry.isBodyReplayable, mayTakePlaces(entry), let marks = lastPuts[entry.url],
            let place = marks.firstIndex(where: { $0.id == id })
        else { return }
        // Of those before it the newest comes first: what cannot be passed over keeps all that are behind it.
        for older in marks[..<place].reversed() {
            guard isPassable(older, by: marks[place]), mayBeSuperseded(older.id, by: entry) else { break }
            entries[older.id]?.supersededBy = id
            finish(older.id, as: .cancelled, now: now)
            actions.append(.end(older.id, .superseded(by: id)))
        }
        dropMarks(before: id)
    }

    /// Its URL knows nothing of an entry any more.
    mutating func dropMark(of entry: Entry) {
        guard var marks = lastPuts[entry.url] else { return }
        marks.removeAll { $0.id == entry.id }
        lastPuts[entry.url] = marks.isEmpty ? nil : marks
    }

    private mutating func dropMarks(before id: EntryID) {
        guard let url = entries[id]?.url, let place = lastPuts[url]?.firstIndex(where: { $0.id == id }) else { return }
        lastPuts[url]?.removeFirst(place)
    }

    private mutating func markForCoalescing(_ id: EntryID, preconditions: String?) {
        guard let entry = entries[id] else { return }
        guard entry.method == "PUT" else {
            if let lane = entry.lane { lanes[lane]?.lastOtherSequence = entry.sequence }
            lastPuts[entry.url] = nil
            return
        }
        guard entry.policy.coalesce == .lastPut else {
            lastPuts[entry.url] = nil
            return
        }
        lastPuts[entry.url, default: []].append(
            PutMark(id: id, sequence: entry.sequence, lane: entry.lane, preconditions: preconditions))
    }

    /// Whether two PUTs say the same, and nothing but PUTs came between them.
    private func isPassable(_ older: PutMark, by newer: PutMark) -> Bool {
        guard older.sequence < newer.sequence, older.lane == newer.lane, older.preconditions == newer.preconditions
        else { return false }
        guard let lane = newer.lane, let line = lanes[lane] else { return true }
        return line.lastOtherSequence < older.sequence
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
