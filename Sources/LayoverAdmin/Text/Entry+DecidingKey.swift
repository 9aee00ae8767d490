import LayoverCore

extension Entry {
    /// The configuration key that decides what the entry waits for now; nil if no key does.
    func decidingKey(_ reachability: ReachabilityView) -> String? {
        let policy = "policies.\(policy.name)"
        switch state {
        case .attempting: return "timeouts.firstByte"
        case .held, .delivered, .cancelled, .expired, .failed: return nil
        case .undecided:
            return switch why {
            case .maybeApplied: "\(policy).onMaybeApplied"
            case .exhausted: "\(policy).automaticAttemptsMax"
            case .credentialsExpired, .rejected, .parentFailed, nil: nil
            }
        case .waiting: break
        }
        return switch waitingFor {
        case .network: reachability.mode == .offline ? "reachability.mode" : "\(policy).wakeOnReachable"
        case .origin, .time, nil: "\(policy).delay"
        case .turn: "limits.perOriginAttempts"
        case .lane: why == nil ? "\(policy).lane" : "\(policy).undecidedInLane"
        case .parent: nil
        case .pause: "\(policy).retryAfterMax"
        }
    }
}
