import LayoverCore
import Retry

/// A policy as the file spells it.
struct PolicySettings: Sendable, Hashable {
    var mode: Policy.Mode
    var holdMax: Duration
    var lifetime: Duration
    var retryOn: [RetryCondition]
    var delay: DelaySettings
    var automaticAttemptsMax: Int?
    var wakeOnReachable: Bool
    var retryAfterMax: Duration
    var onExhausted: Policy.ExhaustedRule
    var onMaybeApplied: Policy.MaybeAppliedRule?
    var async: Policy.AsyncRule
    var clientGone: Policy.ClientGoneRule
    /// How long an attempt may go on without its client. Nil: `timeouts.unattended`.
    var unattended: Duration?
    var repeatable: Bool
    var priority: Int
    var budget: Policy.Budget?
    var cache: CacheRule
    var lane: LaneRule?
    var undecidedInLane: UndecidedInLane
    var coalesce: CoalesceRule
    var preflight: Preflight?

    /// - Parameter policy: A built-in policy of the core, so that its values are those of the file.
    ///   Default: `default`.
    init(_ policy: Policy = .standard) {
        mode = policy.mode
        holdMax = policy.holdMax
        lifetime = policy.lifetime
        retryOn = policy.retryOn
        delay = DelaySettings(policy.delay)
        automaticAttemptsMax = policy.automaticAttemptsMax
        wakeOnReachable = policy.wakeOnReachable
        retryAfterMax = policy.retryAfterMax
        onExhausted = policy.onExhausted
        onMaybeApplied = policy.onMaybeApplied
        self.async = policy.async
        clientGone = policy.clientGone
        unattended = policy.unattendedMax == Policy.standard.unattendedMax ? nil : policy.unattendedMax
        repeatable = policy.repeatable
        priority = policy.priority
        budget = policy.budget
        cache = policy.cache
        lane = policy.lane
        undecidedInLane = policy.undecidedInLane
        coalesce = policy.coalesce
        preflight = policy.preflight
    }

    /// - Parameter unattended: `timeouts.unattended` of all policies.
    func policy(named name: String, unattended general: Duration = Policy.standard.unattendedMax) -> Policy {
        var policy = Policy(name: name)
        policy.mode = mode
        policy.holdMax = holdMax
        policy.lifetime = lifetime
        policy.retryOn = retryOn
        policy.delay = delay.schedule
        policy.automaticAttemptsMax = automaticAttemptsMax
        policy.wakeOnReachable = wakeOnReachable
        policy.retryAfterMax = retryAfterMax
        policy.onExhausted = onExhausted
        policy.onMaybeApplied = onMaybeApplied
        policy.async = async
        policy.clientGone = clientGone
        policy.unattendedMax = unattended ?? general
        policy.repeatable = repeatable
        policy.priority = priority
        policy.budget = budget
        policy.cache = cache
        policy.lane = lane
        policy.undecidedInLane = undecidedInLane
        policy.coalesce = coalesce
        policy.preflight = preflight
        return policy
    }
}

/// The delay of a policy, as the file spells it.
struct DelaySettings: Sendable, Hashable {
    enum Kind: String, Sendable, CaseIterable {
        case exponential, immediate, constant, schedule
    }

    /// Another type than the inherited one starts from the defaults of that type.
    var type = Kind.exponential {
        didSet { if type != oldValue { self = DelaySettings(type: type) } }
    }
    /// Default: 250 ms.
    var initial = Duration.milliseconds(250)
    /// Default: 2.
    var multiplier = 2.0
    /// Default: 30 s.
    var max = Duration.seconds(30)
    /// Default: full for `exponential`; none for the others, which say exactly what they mean.
    var jitter = DelaySchedule.Jitter.full
    /// `constant` needs it.
    var every: Duration?
    /// `schedule` needs it.
    var delays: [Duration]?

    /// - Parameter type: Default: exponential.
    init(type: Kind = .exponential) {
        self.type = type
        jitter = type == .exponential ? .full : .none
    }

    /// A schedule of the core in the file's terms.
    init(_ schedule: DelaySchedule) {
        switch schedule.pattern {
        case .immediate:
            self.init(type: .immediate)
        case .constant(let every):
            self.init(type: .constant)
            self.every = every
        case .exponential(let initial, let multiplier, let max):
            self.init(type: .exponential)
            self.initial = initial
            self.multiplier = multiplier
            self.max = max
        case .list(let delays):
            self.init(type: .schedule)
            self.delays = delays
        case .custom:
            // A function cannot be written into a file; no built-in policy has one.
            self.init(type: .immediate)
        }
        jitter = schedule.jitter
    }

    /// The keys that mean something for the type.
    var meaningfulKeys: Set<String> {
        switch type {
        case .exponential: ["type", "jitter", "initial", "multiplier", "max"]
        case .immediate: ["type", "jitter"]
        case .constant: ["type", "jitter", "every"]
        case .schedule: ["type", "jitter", "delays"]
        }
    }

    var schedule: DelaySchedule {
        switch type {
        case .exponential:
            .exponential(initial: initial, multiplier: multiplier, max: max, jitter: jitter)
        case .immediate: DelaySchedule(.immediate, jitter: jitter)
        case .constant: .constant(every ?? .zero, jitter: jitter)
        case .schedule: .list(delays ?? [], jitter: jitter)
        }
    }
}
