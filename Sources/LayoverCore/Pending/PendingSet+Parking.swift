import Retry

extension PendingSet {
    /// An exchange asks to join: its attempt failed, or its loop knows the gate to be shut.
    package mutating func parked(
        _ new: NewEntry, now: Timestamp, using generator: inout some RandomNumberGenerator
    ) -> [PendingAction] {
        gather { set in
            guard set.admits(new) else { return }
            set.join(new, now: now)
            if let failure = new.failure {
                set.learn(
                    from: failure, shutsGate: new.parking.shutsGate, policy: new.policy, origin: new.origin,
                    isFromCanary: false, now: now, using: &generator)
                set.place(new.id, now: now)
            } else {
                set.admitFresh(new.id, now: now)
            }
            set.announce(new.origin)
            set.dispatch(new.origin, now: now)
        }
    }

    private mutating func admits(_ new: NewEntry) -> Bool {
        if isDraining {
            actions.append(.end(new.id, .draining))
        } else if entries.count >= limits.entryCountMax {
            actions.append(.refuse(new.id, limit: "limits.entries", value: limits.entryCountMax))
        } else if heldCount >= limits.heldClientCountMax {
            actions.append(
                .refuse(new.id, limit: "limits.heldClients", value: limits.heldClientCountMax))
        } else {
            return entries[new.id] == nil
        }
        return false
    }

    private mutating func join(_ new: NewEntry, now: Timestamp) {
        sequence += 1
        let expiresAt = now + min(new.policy.holdMax, new.policy.lifetime)
        entries[new.id] = Entry(
            id: new.id, method: new.method, url: new.url, origin: new.origin, route: new.route,
            policy: new.policy, client: new.client, attemptCount: new.attemptCount,
            automaticLeft: new.automaticLeft, createdAt: new.createdAt, parkedAt: now,
            expiresAt: expiresAt, lastFailure: new.failure,
            lastFailureAt: new.failure == nil ? nil : now, requestByteCount: new.requestByteCount,
            isBodyReplayable: new.isBodyReplayable, sequence: sequence,
            dueAt: now + new.parking.delay,
            waitsForOrigin: new.failure == nil || new.parking.shutsGate)
        heldCount += 1
        line(of: new.origin) { $0.entryCount += 1 }
        timers.push(.expiry(new.id), key: expiresAt)
        actions.append(.report(.parked, new.id))
    }

    /// A request that could not even try: the canary if nobody else tests the way, and not behind the
    /// backlog if the gate is open after all.
    private mutating func admitFresh(_ id: EntryID, now: Timestamp) {
        guard let entry = entries[id], let line = lines[entry.origin] else { return }
        if mode != .offline, !line.gate.isShut {
            start(id, trigger: .arrival)
        } else if mode != .offline, line.underWay == 0 {
            start(id, trigger: .canary)
        } else {
            entries[id]?.dueAt = line.gate.canaryAt ?? now
            place(id, now: now)
        }
    }

    /// The attempt of an entry failed and is worth another.
    package mutating func attemptFailed(
        _ id: EntryID, failure: Failure, parking: Verdict.Parking, attemptCount: Int,
        automaticLeft: Int?, isBodyReplayable: Bool, now: Timestamp,
        using generator: inout some RandomNumberGenerator
    ) -> [PendingAction] {
        gather { set in
            guard let entry = set.entries[id], entry.state == .attempting else { return }
            set.line(of: entry.origin) { $0.underWay -= 1 }
            let startsAnew = entry.isAbandoned && failure.evidence == .neverSent
            // One that was cut off by us says nothing about its origin.
            if !startsAnew {
                set.learn(
                    from: failure, shutsGate: parking.shutsGate, policy: entry.policy, origin: entry.origin,
                    isFromCanary: entry.isCanary, now: now, using: &generator)
            }
            set.change(id) { entry in
                entry.state = .waiting
                entry.isAbandoned = startsAnew
                entry.attemptCount = attemptCount
                entry.automaticLeft = automaticLeft
                entry.isBodyReplayable = isBodyReplayable
                entry.lastFailure = failure
                entry.lastFailureAt = now
                entry.dueAt = startsAnew ? now : now + parking.delay
                entry.waitsForOrigin = parking.shutsGate || startsAnew
            }
            set.settleAfterFailure(id, now: now)
        }
    }

    private mutating func settleAfterFailure(_ id: EntryID, now: Timestamp) {
        guard let entry = entries[id] else { return }
        if entry.expiresAt <= now {
            finish(id, as: .expired, now: now)
            actions.append(.end(id, .expired))
        } else if isDraining {
            finish(id, as: .cancelled, now: now)
            actions.append(.end(id, .draining))
        } else {
            place(id, now: now)
            if entry.isAbandoned {
                entries[id]?.isAbandoned = false
                line(of: entry.origin) { $0.gate.mayBeReachable(now: now) }
                makeEligible(id, by: .reachability)
            }
        }
        announce(entry.origin)
        dispatch(entry.origin, now: now)
    }

    /// What a failure says about its origin.
    mutating func learn(
        from failure: Failure, shutsGate: Bool, policy: Policy, origin: Origin, isFromCanary: Bool,
        now: Timestamp,
        using generator: inout some RandomNumberGenerator
    ) {
        var line = lines[origin] ?? OriginLine(gate: OriginGate(windowMax: limits.perOriginAttemptCountMax))
        // A canary that connected and was then let down proves no response either; the next one waits too.
        if shutsGate || (isFromCanary && line.gate.isShut) {
            let before = line.gate.canaryAt
            line.gate.failed(
                isFromCanary: isFromCanary, delay: policy.delay, now: now, using: &generator)
            if let canaryAt = line.gate.canaryAt, canaryAt != before {
                timers.push(.canary(origin), key: canaryAt)
            }
        } else if !failure.phase.isBeforeSending {
            line.gate.wentWrong()
        }
        lines[origin] = line
    }
}
