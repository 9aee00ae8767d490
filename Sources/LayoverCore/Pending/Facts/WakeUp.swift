/// Something says that ways may be open which were not: the network changed, or an admin said so.
struct WakeUp {
    let now: Timestamp

    /// Every shut gate may send a canary now; what else waits and may be woken goes as its gate admits.
    func apply(to schedule: inout Schedule) {
        // While the proxy stops, what is under way may finish, and nothing starts in its place.
        guard !schedule.isDraining else { return }
        for id in schedule.entries.idsInOrder { wake(id, &schedule) }
        for origin in schedule.origins.inOrder {
            schedule.origins[origin].gate.mayBeReachable(now: now)
            schedule.toDispatch.insert(origin)
        }
    }

    private func wake(_ id: EntryID, _ schedule: inout Schedule) {
        guard let entry = schedule.entries[id], entry.policy.wakeOnReachable else { return }
        switch entry.fullState {
        // It may be hanging on a network that is gone.
        case .attempting: schedule.abandonAttempt(of: id)
        case .waiting(.due), .waiting(.eligible):
            if entry.isWokenByReachability { schedule.makeEligible(id, by: .reachability) }
        case .waiting(.blocked), .held, .undecided, .ended: break
        }
    }
}

extension Schedule {
    /// Has the attempt of an entry made again later, if it has sent nothing. If it connects after all, nothing is lost. An unattended
    /// one has sent something.
    mutating func abandonAttempt(of id: EntryID) {
        guard let entry = entries[id], !entry.isUnattended, case .attempting(var attempt) = entry.fullState else { return }
        attempt.isAbandoned = true
        entries[id]?.fullState = .attempting(attempt)
        actions.append(.abandonConnecting(id))
    }
}
