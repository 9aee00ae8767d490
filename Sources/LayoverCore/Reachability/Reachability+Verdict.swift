extension Reachability {
    /// Whether a captive portal answers for every origin: `PortalChanged`.
    package var isBehindPortal: Bool {
        // An admin who says `online` does not want to hear of the network.
        mode == .auto && lastProbe?.isPortal == true
    }

    var observed: ReachabilityState {
        if let lastProbe, !isProbeStale {
            switch lastProbe {
            case .expected: return .online
            case .portal: return .portal
            case .failed: return judged?.isUsable == false ? .offline : .limited
            }
        }
        guard let judged else { return .unknown }
        if !judged.isUsable { return .offline }
        if isWakeWithheld { return .portal }
        return judged.hasDefaultRoute && !isDoubted ? .online : .limited
    }

    var detail: String? {
        if let lastProbe, !isProbeStale {
            switch lastProbe {
            case .expected: return nil
            case .portal(let status): return "The probe got an unexpected status (\(status)): probably a captive portal."
            case .failed(_, let message): return "The probe failed: \(message)"
            }
        }
        guard let judged else { return "No information about network links yet." }
        if !judged.isUsable { return "No network link is up and has an address." }
        if !judged.hasDefaultRoute { return "There is no default route." }
        return isDoubted ? "The last \(Self.originFall) origins tried were unreachable." : nil
    }

    /// Sets the state by the observations and the mode, after a change of either.
    mutating func updateState(now: Timestamp) {
        let state = Self.effective(observed, mode: mode)
        if state != self.state {
            self.state = state
            since = now
        }
    }

    static func effective(
        _ observed: ReachabilityState, mode: ReachabilityMode
    ) -> ReachabilityState {
        switch mode {
        case .auto: observed
        case .online: .online
        case .offline: .offline
        }
    }
}

extension ProbeResult {
    /// Whether a server other than the probe's answered.
    var isPortal: Bool {
        if case .portal = self { true } else { false }
    }
}
