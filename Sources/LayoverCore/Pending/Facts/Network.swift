/// A request that is not in the set got a response from an origin.
package struct OriginAnswered: PostedFact {
    let origin: Origin

    package init(_ origin: Origin) { self.origin = origin }

    package func apply(to set: inout PendingSet, now: Timestamp, using _: inout some RandomNumberGenerator) {
        if set.origins.isKnown(origin) { set.originOpened(origin, now: now) }
    }
}

/// An origin wants to be left alone by the requests of a policy: a response says so that is delivered.
package struct OriginPaused: PostedFact {
    let origin: Origin
    let policy: Policy
    let wait: Duration

    package init(_ origin: Origin, for policy: Policy, _ wait: Duration) {
        self.origin = origin
        self.policy = policy
        self.wait = wait
    }

    package func apply(to set: inout PendingSet, now: Timestamp, using _: inout some RandomNumberGenerator) {
        set.pause(origin, for: policy, wait, now: now)
    }
}

/// Fresh attempts to a watched origin began or ended. They count in its window, and never wait for it.
package struct FreshAttemptCountChanged: PostedFact {
    let origin: Origin
    let difference: Int

    package init(_ origin: Origin, by difference: Int) {
        self.origin = origin
        self.difference = difference
    }

    package func apply(to set: inout PendingSet, now: Timestamp, using _: inout some RandomNumberGenerator) {
        set.freshAttemptsChanged(at: origin, by: difference)
    }
}

/// Something says that an origin may be back.
package struct OriginMayBeReachable: PendingFact {
    let origin: Origin

    package init(_ origin: Origin) { self.origin = origin }

    package func apply(to set: inout PendingSet, now: Timestamp, using _: inout some RandomNumberGenerator) {
        set.originMayBeReachable(origin, now: now)
    }
}

/// Something says that ways may be open which were not: the network changed, or an admin said so.
package struct NetworkMayBeReachable: PendingFact {
    package init() {}

    package func apply(to set: inout PendingSet, now: Timestamp, using _: inout some RandomNumberGenerator) {
        set.wakeAll(now: now)
    }
}

/// A captive portal began or ceased to answer for every origin.
package struct PortalChanged: PendingFact {
    let isBehindPortal: Bool

    package init(isBehindPortal: Bool) { self.isBehindPortal = isBehindPortal }

    package func apply(to set: inout PendingSet, now: Timestamp, using _: inout some RandomNumberGenerator) {
        set.portalChanged(isBehindPortal: isBehindPortal)
    }
}

/// An admin changed the mode. In mode `offline` attempts that have sent nothing wait, too.
package struct ModeChanged: PendingFact {
    let mode: ReachabilityMode
    let cuts: Bool

    /// - Parameter cuts: Whether all attempts under way are aborted, whatever they have sent.
    package init(to mode: ReachabilityMode, cuts: Bool = false) {
        self.mode = mode
        self.cuts = cuts
    }

    package func apply(to set: inout PendingSet, now: Timestamp, using _: inout some RandomNumberGenerator) {
        set.modeChanged(to: mode, cuts: cuts, now: now)
    }
}
