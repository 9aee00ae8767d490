/// Whether the network as a whole is there, and when it is worth trying again.
///
/// A pure machine: facts in, actions out, time as an argument. It never forbids an attempt; an attempt
/// costs nothing and is the best probe. What it does is to say *when* waiting ends early.
///
/// 1. A change of links, addresses, default routes or of the resolver opens a window of `debounce`.
///    More changes in the window do not lengthen it. At its end the newest snapshot is judged, once:
///    anything usable, or nothing known, drops connections and names and wakes; nothing usable only
///    drops them.
///    A way where none was (a link that is usable, a default route) does so at once as well, so that nothing waits for the window;
///    what comes too early for its network is woken again at the end.
/// 2. A link that went and came back within the window wakes too: attempts may have failed in between.
/// 3. While a captive portal was the last to answer the probe, a change wakes no entry until the probe was
///    made anew: a portal would answer what waits. A probe that gets no response holds nothing back.
/// 4. A hint and a resume wake at once.
/// 5. In mode `offline` no probe is made.
/// 6. Traffic is evidence too. `originFall` origins in a row that cannot be reached, with no response from any
///    other between them, put the network in doubt; the first response of any origin (`rise` is one) ends that, and
///    wakes. Origins on this machine say nothing about the network.
/// 7. A link that flaps does not cause storms: from the fourth change in half a minute on, nothing takes effect before the
///    end of the window, which doubles with each, up to `flapWindowMax`.
package struct Reachability: Sendable {
    /// Origins in a row that cannot be reached before the network is in doubt. Default: 3.
    static let originFall = 3
    /// Changes that are taken at face value before the window grows. Default: 3.
    static let flapCountFree = 3
    /// A network that was quiet for so long does not flap. Default: 30 s.
    static let flapQuiet: Duration = .seconds(30)
    /// The longest window. Default: 10 s.
    static let flapWindowMax: Duration = .seconds(10)

    package let debounce: Duration
    /// The time from one probe to the next. Nil: there is no probe.
    package let probeInterval: Duration?

    package internal(set) var mode: ReachabilityMode
    var reason: String?
    var tunnelsWhenOffline = OfflineTunnels.freeze
    var state: ReachabilityState
    var since: Timestamp
    /// The newest snapshot that was heard.
    var newest: LinkSnapshot?
    /// The snapshot that people see: the newest at the end of the last window, or a later one with a greater `extent`.
    var judged: LinkSnapshot?
    var windowEndsAt: Timestamp?
    var networkChangedAt: Timestamp?

    var lastProbe: ProbeResult?
    var lastProbeAt: Timestamp?
    /// Whether the network changed since the last probe was answered.
    var isProbeStale = false
    /// When the next probe is due; nil while one is under way, in mode `offline` and without a probe.
    var probeAt: Timestamp?
    /// Windows that have ended since the network was last quiet for `flapQuiet`.
    var flapCount = 0
    var lastFlapAt: Timestamp?
    /// Origins that could not be reached since the last response of any; at most `originFall`.
    var awayOrigins: Set<Origin> = []
    /// Whether a change would have waked, had the last response not been a portal's.
    var isWakeWithheld = false

    /// - Parameters:
    ///   - debounce: How long changes are gathered before they count as one. Default: 500 ms.
    ///   - hasProbe: Whether a probe is configured. The first one is due at once.
    ///   - probeInterval: The wait between the end of a probe and the next. Default: 10 s.
    package init(
        mode: ReachabilityMode = .auto, debounce: Duration = .milliseconds(500), hasProbe: Bool,
        probeInterval: Duration = .seconds(10), now: Timestamp
    ) {
        self.mode = mode
        self.debounce = debounce
        self.probeInterval = hasProbe ? probeInterval : nil
        state = Self.effective(.unknown, mode: mode)
        since = now
        probeAt = hasProbe && mode != .offline ? now : nil
    }

    // MARK: Views

    package var view: ReachabilityView {
        ReachabilityView(
            mode: mode, state: state, observed: observed, since: since, reason: reason,
            detail: detail, links: judged, lastProbe: lastProbe, lastProbeAt: lastProbeAt,
            networkChangedAt: networkChangedAt, tunnels: offlineTunnels)
    }

    /// What happens to open tunnels. Nil: the mode is not `offline`. Being offline by evidence is not enough.
    package var offlineTunnels: OfflineTunnels? { mode == .offline ? tunnelsWhenOffline : nil }

    /// Whether the network as a whole counts as away: `PendingSet.isNetworkAway`.
    package var isNetworkAway: Bool {
        state == .offline || state == .portal || mode == .auto && isDoubted && state != .online
    }

    /// Whether so many origins in a row could not be reached that it may be the network.
    package var isDoubted: Bool { awayOrigins.count >= Self.originFall }

    /// When `advance(to:)` wants to be called next; nil while nothing is due.
    package var nextWakeAt: Timestamp? {
        switch (windowEndsAt, probeAt) {
        case (nil, let other), (let other, nil): other
        case (let window?, let probe?): min(window, probe)
        }
    }
}

/// Something that was learnt about the network as a whole.
package enum ReachabilityFact: Sendable, Hashable {
    /// The kernel's view of links, addresses and default routes, whole. The first one is no change.
    case links(LinkSnapshot)
    /// The content of the resolver's configuration changed.
    case resolverChanged
    /// A probe came to its end.
    case probed(ProbeResult)
    /// The machine slept and woke.
    case resumed
    /// A script or a person says that something changed.
    case hinted
    /// The gate of an origin shut: it cannot be reached.
    case originAway(Origin)
    /// Some origin answered.
    case originBack
    /// An admin set the mode. The words are kept for those who ask later. `tunnels` counts under `offline` only.
    case mode(ReachabilityMode, reason: String?, tunnels: OfflineTunnels = .freeze)
}

/// What the engine is to do after a fact about the network, in the order given.
package enum ReachabilityAction: Sendable, Hashable {
    /// Report the changed view to all watchers.
    case changed
    /// Use no connection and no name any more that is older than now.
    case networkChanged
    /// Ways may be open that were not: `NetworkMayBeReachable`.
    case wake
    /// A probe is made now. A probe under way ends, and its result does not count.
    case probe
}

/// Whether the network is there, as far as can be known without an attempt.
package enum ReachabilityState: String, Sendable, Hashable, CaseIterable {
    /// There is no evidence yet.
    case unknown
    /// There is a link with an address and a default route, or the probe got the response it expects.
    case online
    /// No link could carry anything, or an admin said so.
    case offline
    /// Another server answered the probe.
    case portal
    /// There is a link, but no default route, or the probe got no response.
    case limited
}

/// What an admin said about the network.
package enum ReachabilityMode: String, Sendable, Hashable, CaseIterable {
    /// Believe the evidence.
    case auto
    /// Ignore the verdict about the network; gates work as ever.
    case online
    /// Send nothing.
    case offline
}

/// What people and programs see of reachability.
package struct ReachabilityView: Sendable, Hashable {
    package var mode: ReachabilityMode
    /// What counts: the mode's word where the admin gave one, else what was observed.
    package var state: ReachabilityState
    /// The observed state, whatever the mode.
    package var observed: ReachabilityState
    /// When `state` last changed.
    package var since: Timestamp
    /// The admin's words for the mode.
    package var reason: String?
    /// Why `observed` is what it is, as a sentence; nil when there is nothing to explain.
    package var detail: String?
    /// The links of this machine. Nil: the kernel has not been heard, or may not be asked.
    package var links: LinkSnapshot?
    package var lastProbe: ProbeResult?
    package var lastProbeAt: Timestamp?
    /// When connections and names were last dropped because of a change.
    package var networkChangedAt: Timestamp?
    /// What happens to open tunnels. Nil: the mode is not `offline`.
    package var tunnels: OfflineTunnels?
}

/// What attempts are judged by of the network as a whole.
package struct NetworkCondition: Sendable, Hashable {
    /// Whether the network counts as away, so that a resolver is not to be believed that says a name does not exist.
    package var isAway: Bool
    /// Whether a captive portal answers in place of origins: a certificate that does not convince is then most likely
    /// the portal's.
    package var isBehindPortal: Bool
    /// Whether so many origins in a row could not be reached that the next response of any has to be reported.
    package var isDoubted: Bool

    package init(isAway: Bool = false, isBehindPortal: Bool = false, isDoubted: Bool = false) {
        self.isAway = isAway
        self.isBehindPortal = isBehindPortal
        self.isDoubted = isDoubted
    }
}

extension Reachability {
    package var condition: NetworkCondition {
        .init(isAway: isNetworkAway, isBehindPortal: isBehindPortal, isDoubted: isDoubted)
    }
}

/// What came of one probe: a request made on purpose, to see whether the network works.
package enum ProbeResult: Sendable, Hashable {
    /// The status that the configuration expects.
    case expected
    /// Another status, redirects among them: another server answered, most likely a captive portal.
    case portal(status: Int)
    /// No response. Says little: the server of the probe may be the one that is away.
    case failed(FailureKind, message: String)
}
