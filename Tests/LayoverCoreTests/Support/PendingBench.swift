import LayoverTestSupport
import Retry

@testable import LayoverCore

/// A pending set with a clock that a test moves, and short names for the facts.
///
/// Actions that only tell people or the monitor something are left out; what the last fact told is in
/// `reports`, `incidents` and `gates`.
struct PendingBench {
    static let origin = Origin(scheme: .http, host: "a.example")

    var set: PendingSet
    var now = Timestamp.at(.seconds(1000))
    var generator = SeededGenerator(seed: 1)
    var reports: [EntryEventKind] = []
    var incidents: [(kind: IncidentEventKind, incident: Incident)] = []
    var gates: [PendingAction] = []

    init(_ limit: (inout PendingLimits) -> Void = { _ in }) {
        var limits = PendingLimits()
        limit(&limits)
        set = PendingSet(limits: limits)
    }

    init(perOriginAttemptCountMax: Int) { self.init { $0.perOriginAttemptCountMax = perOriginAttemptCountMax } }

    /// Tells the set a fact.
    mutating func handle(_ fact: some PendingFact) -> [PendingAction] { kept(set.handle(fact, now: now, using: &generator)) }

    mutating func kept(_ actions: [PendingAction]) -> [PendingAction] {
        reports = actions.compactMap { if case .report(let kind, _) = $0 { kind } else { nil } }
        incidents = actions.compactMap {
            if case .incident(let kind, let incident) = $0 { (kind, incident) } else { nil }
        }
        gates = actions.filter { if case .gate = $0 { true } else { false } }
        return actions.filter {
            switch $0 {
            case .report, .incident, .gate: false
            default: true
            }
        }
    }

    // MARK: Facts

    /// An exchange joins after its first attempt failed; nil: its gate was known to be shut.
    mutating func park(
        _ failure: Failure? = .refused, origin: Origin = origin, delay: Duration = .seconds(1),
        policy: Policy = .fixture(), asks: UndecidedReason? = nil, isExposed: Bool = false,
        retryAfter: Duration? = nil, wantsTicket: Bool = false
    ) -> (EntryID, [PendingAction]) {
        let id = EntryID(using: &generator)
        var new = NewEntry(
            id: id, method: "GET", url: "\(origin)/", origin: origin, policy: policy,
            client: .init(address: "127.0.0.1"), createdAt: now, attemptCount: failure == nil ? 0 : 1,
            automaticLeft: policy.automaticAttemptsMax.map { asks == nil ? $0 : 0 }, isExposed: isExposed,
            failure: failure,
            parking: .init(
                delay: delay, shutsGate: failure?.shutsGate ?? false, asks: asks, rule: rule(failure, asks),
                retryAfter: retryAfter))
        new.wantsTicket = wantsTicket
        return (id, handle(ParkRequested(new)))
    }

    /// As `park`, where the actions do not matter.
    mutating func parked(
        _ failure: Failure? = .refused, origin: Origin = origin, delay: Duration = .seconds(1),
        policy: Policy = .fixture(), asks: UndecidedReason? = nil, isExposed: Bool = false
    ) -> EntryID {
        park(failure, origin: origin, delay: delay, policy: policy, asks: asks, isExposed: isExposed).0
    }

    private func rule(_ failure: Failure?, _ asks: UndecidedReason?) -> Verdict.ParkingRule {
        switch asks {
        case .maybeApplied: .onMaybeApplied
        case .exhausted: .onExhausted
        case .credentialsExpired, .rejected, .parentFailed: .retryOn
        case nil: failure == nil ? .gate : failure?.evidence == .answered ? .status : .retryOn
        }
    }

    mutating func fail(
        _ id: EntryID, _ failure: Failure = .refused, delay: Duration = .seconds(1),
        asks: UndecidedReason? = nil, rule: Verdict.ParkingRule = .retryOn, automaticLeft: Int? = nil,
        retryAfter: Duration? = nil, resume: ResumeProgress? = nil
    ) -> [PendingAction] {
        let count = (set.entry(id, now: now)?.attemptCount ?? 0) + 1
        var tally = tally(id, count, automaticLeft: automaticLeft)
        tally.resume = resume
        let parking = Verdict.Parking(delay: delay, shutsGate: failure.shutsGate, asks: asks, rule: rule, retryAfter: retryAfter)
        return handle(AttemptFailed(id, failure, parking, tally))
    }

    /// A status that is retried.
    mutating func status(
        _ id: EntryID, _ status: Int = 503, delay: Duration = .seconds(1), retryAfter: Duration? = nil
    ) -> [PendingAction] {
        fail(id, .answered(status), delay: delay, rule: .status, retryAfter: retryAfter)
    }

    mutating func answer(_ id: EntryID) -> [PendingAction] { handle(AttemptAnswered(id, tally(id, 2))) }

    mutating func end(
        _ id: EntryID, as state: EntryState = .delivered, failure: Failure? = nil
    ) -> [PendingAction] {
        handle(ExchangeEnded(id, as: state, failure: failure, tally(id, 2)))
    }

    /// A response that is over in one go.
    mutating func deliver(_ id: EntryID) -> [PendingAction] { answer(id) + end(id) }

    mutating func originAnswered(_ origin: Origin = origin) -> [PendingAction] { handle(OriginAnswered(origin)) }

    mutating func fresh(_ difference: Int) -> [PendingAction] { handle(FreshAttemptCountChanged(Self.origin, by: difference)) }

    mutating func reachable() -> [PendingAction] { handle(NetworkMayBeReachable()) }

    mutating func mode(_ mode: ReachabilityMode) -> [PendingAction] { handle(ModeChanged(to: mode)) }

    mutating func drain() -> [PendingAction] { handle(DrainBegan()) }

    /// Moves the clock and does what is due.
    mutating func wait(_ duration: Duration) -> [PendingAction] {
        now = now + duration
        return handle(TimePassed())
    }

    mutating func command(
        _ command: EntryCommand, _ id: EntryID, revision: Int? = nil, reason: String? = nil,
        acknowledgement: String? = nil
    ) -> (EntryCommandResult, [PendingAction]) {
        let (result, actions) = set.commanded(
            command, id, revision: revision, reason: reason, acknowledgement: acknowledgement, now: now)
        return (result, kept(actions))
    }

    mutating func command(
        _ command: EntryCommand, incident: IncidentID
    ) -> (EntryCommandResult, [PendingAction]) {
        let (result, actions) = set.commanded(command, incident: incident, now: now)
        return (result, kept(actions))
    }

    mutating func portal(_ isBehindPortal: Bool) -> [PendingAction] { handle(PortalChanged(isBehindPortal: isBehindPortal)) }

    mutating func reroute(_ id: EntryID, route: String? = nil, policy: Policy) -> [PendingAction] {
        reroute(id, route: route, policy: policy, automaticLeft: policy.automaticAttemptsMax, parentProxyGate: nil)
    }

    mutating func reroute(
        _ id: EntryID, route: String?, policy: Policy, automaticLeft: Int?, parentProxyGate: Origin?
    ) -> [PendingAction] { kept(set.rerouted(id, route, policy, automaticLeft, parentProxyGate, now: now)) }

    /// An entry was tried so often.
    mutating func counted(_ id: EntryID, all: Int = 1, automatic: Int = 1, mayHaveBeenApplied: Bool = true) {
        set.entries[id]?.counts = AttemptCounts(
            all: all, automatic: automatic, mayHaveBeenApplied: mayHaveBeenApplied)
    }

    func tally(_ id: EntryID, _ count: Int, automaticLeft: Int? = nil, records: [AttemptRecord] = []) -> AttemptTally {
        AttemptTally(set.counts(id, all: count), automaticLeft: automaticLeft, records: records)
    }

    // MARK: Views

    func entry(_ id: EntryID) -> Entry? { set.entry(id, now: now) }
    func state(_ id: EntryID) -> EntryState? { entry(id)?.state }

    /// How long until it goes by itself.
    func wait(of id: EntryID) -> Duration? { entry(id)?.nextAttemptAt.map { $0 - now } }

    var shutOrigins: Set<Origin> { Set(set.shutOrigins) }
}

extension PendingSet {
    /// One entry finds its route after a reload, whatever the others do.
    mutating func rerouted(
        _ id: EntryID, _ route: String?, _ policy: Policy, _ automaticLeft: Int?, _ parentProxyGate: Origin?, now: Timestamp
    ) -> [PendingAction] {
        let found = NewRoute(
            route: route, policy: admission.shared(policy), automaticLeft: automaticLeft, parentProxyGate: parentProxyGate, now: now)
        found.apply(to: id, &self)
        return finishFact(now: now)
    }

    /// The attempt counts of an entry after this number of attempts.
    func counts(_ id: EntryID, all: Int) -> AttemptCounts {
        var counts = entries[id]?.counts ?? AttemptCounts()
        counts.all = all
        return counts
    }
}

extension PendingAction {
    static func shut(_ origin: Origin = PendingBench.origin) -> PendingAction { .announce(origin, .shut) }
    static func watched(_ origin: Origin = PendingBench.origin) -> PendingAction {
        .announce(origin, .watched)
    }
    static func forgotten(_ origin: Origin = PendingBench.origin) -> PendingAction {
        .announce(origin, .forgotten)
    }

    var started: EntryID? { if case .start(let id, _) = self { id } else { nil } }
}
