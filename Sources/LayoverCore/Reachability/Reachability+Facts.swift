extension Reachability {
    /// Takes a fact. What had fallen due before it is done first.
    package mutating func observe(_ fact: ReachabilityFact, now: Timestamp) -> [ReachabilityAction] {
        var actions = advance(to: now)
        switch fact {
        case .links(let snapshot): actions += linksSeen(snapshot, now: now)
        case .resolverChanged: openWindow(now: now)
        case .probed(let result): actions += probed(result, now: now)
        case .resumed, .hinted: actions += changed(wakes: true, now: now)
        case .originAway(let origin): actions += originAway(origin, now: now)
        case .originBack: actions += originBack(now: now)
        case .mode(let mode, let reason, let tunnels): actions += modeSet(to: mode, reason: reason, tunnels, now: now)
        }
        return actions
    }

    /// Does what is due. Calling it early or twice does no harm.
    package mutating func advance(to now: Timestamp) -> [ReachabilityAction] {
        var actions: [ReachabilityAction] = []
        if let end = windowEndsAt, end <= now {
            windowEndsAt = nil
            actions += windowEnded(now: now)
        }
        if let due = probeAt, due <= now { actions += probe() }
        return actions
    }

    private mutating func linksSeen(
        _ snapshot: LinkSnapshot, now: Timestamp
    ) -> [ReachabilityAction] {
        guard let before = newest else {
            // Links that were there before the first look are no change.
            newest = snapshot
            judged = snapshot
            updateState(now: now)
            return [.changed]
        }
        guard snapshot != before else { return [] }
        newest = snapshot
        openWindow(now: now)
        guard let judged, snapshot.extent > judged.extent, flapCount < Self.flapCountFree else { return [] }
        // There is a way that was not there. It is judged once more at the end of the window.
        self.judged = snapshot
        return changed(wakes: !isBehindPortal, now: now)
    }

    private mutating func openWindow(now: Timestamp) {
        guard windowEndsAt == nil else { return }
        if let lastFlapAt, now - lastFlapAt > Self.flapQuiet { flapCount = 0 }
        let doublings = min(10, max(0, flapCount - Self.flapCountFree + 1))
        windowEndsAt = now + max(debounce, min(Self.flapWindowMax, debounce * (1 << doublings)))
    }

    // MARK: Traffic

    private mutating func originAway(_ origin: Origin, now: Timestamp) -> [ReachabilityAction] {
        guard !origin.isLoopback, !isDoubted else { return [] }
        awayOrigins.insert(origin)
        return isDoubted ? updateAndTell(now: now) : []
    }

    private mutating func originBack(now: Timestamp) -> [ReachabilityAction] {
        let wasDoubted = isDoubted
        awayOrigins.removeAll()
        return wasDoubted ? updateAndTell(now: now) + [.wake] : []
    }

    private mutating func updateAndTell(now: Timestamp) -> [ReachabilityAction] {
        updateState(now: now)
        return [.changed]
    }

    private mutating func windowEnded(now: Timestamp) -> [ReachabilityAction] {
        let (isNew, stateBefore) = (judged != newest, state)
        judged = newest
        flapCount += 1
        lastFlapAt = now
        guard judged?.isUsable == false else { return changed(wakes: !isBehindPortal, now: now) }
        // A wake that was held back for the sake of the probe is void: there is no way any more.
        isWakeWithheld = false
        isProbeStale = true
        if isNew { networkChangedAt = now }
        updateState(now: now)
        // A kept connection cannot be told from a dead one any more: a request written to it would hang
        // until the kernel gives up, instead of failing before it was sent.
        if isNew { return [.changed, .networkChanged] }
        return state == stateBefore ? [] : [.changed]
    }

    /// The network is not what it was.
    private mutating func changed(wakes: Bool, now: Timestamp) -> [ReachabilityAction] {
        networkChangedAt = now
        isProbeStale = true
        awayOrigins.removeAll()
        isWakeWithheld = !wakes
        updateState(now: now)
        return [.changed, .networkChanged] + (wakes ? [.wake] : []) + probe()
    }

    private mutating func probed(_ result: ProbeResult, now: Timestamp) -> [ReachabilityAction] {
        let (before, observedBefore, wasWithheld) = (lastProbe, observed, isWakeWithheld)
        lastProbe = result
        lastProbeAt = now
        isProbeStale = false
        probeAt = mode == .offline ? nil : probeInterval.map { now + $0 }
        if !result.isPortal { isWakeWithheld = false }
        let actions = wakesAfter(probe: result, before: before, wasWithheld: wasWithheld, now: now)
        updateState(now: now)
        let isNews = before != result || observed != observedBefore || !actions.isEmpty
        return (isNews ? [.changed] : []) + actions
    }

    private mutating func wakesAfter(
        probe result: ProbeResult, before: ProbeResult?, wasWithheld: Bool, now: Timestamp
    ) -> [ReachabilityAction] {
        switch (before, result) {
        case (.portal?, .expected):
            // A portal lies about names too: what was learnt behind it is forgotten.
            networkChangedAt = now
            return [.networkChanged, .wake]
        case (.failed?, .expected):
            return [.wake]
        case (_, .expected), (_, .failed):
            return wasWithheld ? [.wake] : []
        case (_, .portal):
            return []
        }
    }

    private mutating func modeSet(
        to mode: ReachabilityMode, reason: String?, _ tunnels: OfflineTunnels, now: Timestamp
    ) -> [ReachabilityAction] {
        let tunnels = mode == .offline ? tunnels : .freeze
        guard mode != self.mode || reason != self.reason || tunnels != tunnelsWhenOffline else { return [] }
        let before = self.mode
        self.mode = mode
        self.reason = reason
        tunnelsWhenOffline = tunnels
        if mode == .offline {
            probeAt = nil
        } else if mode != before {
            // `ModeChanged` wakes every entry; nothing else has to be done.
            isWakeWithheld = false
        }
        updateState(now: now)
        return [.changed] + (before == .offline && mode != .offline ? probe() : [])
    }

    private mutating func probe() -> [ReachabilityAction] {
        guard probeInterval != nil, mode != .offline else { return [] }
        probeAt = nil
        return [.probe]
    }
}
