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
        // A request that leaves the window as a big one has to be counted in it as one. A request without a client is in no window.
        guard entry.state == .attempting, !entry.isUnattended, schedule.entries[id]?.isBig != entry.isBig else { return }
        for gate in [entry.origin, entry.parentProxyGate].compactMap({ $0 }) { schedule.origins[gate].grewBig() }
    }
}
