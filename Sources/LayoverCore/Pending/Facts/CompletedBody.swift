/// The body of a request has arrived whole.
struct CompletedBody {
    let byteCount: Int
    let isReplayable: Bool
    let now: Timestamp

    func apply(to id: EntryID, _ schedule: inout Schedule) {
        guard let entry = schedule.entries[id], entry.requestByteCount != byteCount || entry.isBodyReplayable != isReplayable
        else { return }
        schedule.change(id) { entry in
            entry.requestByteCount = byteCount
            entry.isBodyReplayable = isReplayable
        }
        PutCoalescing(id: id, now: now).takePlaces(&schedule)
        // It will leave the window as a big one, so it has to be in it as one. One without a client is in no window.
        guard entry.state == .attempting, !entry.isUnattended, schedule.entries[id]?.isBig != entry.isBig else { return }
        for gate in [entry.origin, entry.hop].compactMap({ $0 }) { schedule.origins[gate].grewBig() }
    }
}
