import LayoverCore

extension Entry {
    /// The key of the configuration that decides what it waits for now; nil if none does.
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
