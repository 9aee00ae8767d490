import Retry

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
