import LayoverTestSupport

@testable import LayoverCore
@testable import LayoverEngine
@testable import LayoverProxy

/// Holds what the proxy does against the promises of the product. One method for each invariant.
final class Referee {
    unowned let simulation: Simulation

    /// An entry as it stood at the last look.
    struct Seen {
        var state: EntryState
        var why: UndecidedReason?
        var placement: UInt32
        var dueAt: Timestamp
        var waitsForStatus: Bool
        var attemptCount: Int
        /// The parent proxy of the newest attempt.
        var triedParentProxyGate: Origin?
    }

    /// A gate as it stood at the last look.
    struct SeenGate {
        var isShut: Bool
        var window: Int
    }

    var seen: [EntryID: Seen] = [:]
    var gates: [Origin: SeenGate] = [:]
    /// Pauses as they stood at the last look, by origin and policy.
    var pauses: [Origin: [String: StatusPacing.Pause]] = [:]
    /// Entries that waited for a parent proxy when a reload may have named another, until their next attempt.
    var leftParentProxy: Set<EntryID> = []
    var reloadedAt = Timestamp(nanoseconds: -1)
    /// Since when gates are shut.
    var shutAt: [Origin: Timestamp] = [:]
    var gone: Set<EntryID> = []
    /// Entries that nobody admitted: an earlier life did, or they joined while they were under way.
    var unbidden: Set<EntryID> = []
    /// Tickets of an earlier life that have not been tried in this one.
    var restored: Set<EntryID> = []
    /// Entries of which a person asked for an attempt that has not begun.
    var asked: Set<EntryID> = []
    /// Entries whose attempt under way a person asked for: it may be cut off and made anew.
    var goingAsAsked: Set<EntryID> = []
    /// Entries that a person forced, until they go.
    var forced: Set<EntryID> = []
    /// Entries that a person holds back, over attempts that a person asks for.
    var heldBack: Set<EntryID> = []

    /// When the set had no room last.
    var fullAt: Timestamp?
    /// When the disk did not take the mark of an attempt, if it has taken nothing since.
    var markRefusedAt: Timestamp?

    init(simulation: Simulation) { self.simulation = simulation }

    func breach(_ invariant: String, _ detail: String) { simulation.breach(invariant, detail) }

    func name(_ entry: Entry) -> String {
        "r\(simulation.truth(of: entry)?.number ?? 0) (\(entry.state.rawValue), \(entry.origin))"
    }

    // MARK: What people did

    func commanded(
        _ command: EntryCommand, _ entry: Entry, result: EntryCommandResult, acknowledged: Bool,
        seesOldRevision: Bool
    ) {
        let expected: EntryCommandResult =
            seesOldRevision
            ? .stale
            : !entry.actions.contains(command)
                ? .conflict
                : command == .force && !acknowledged ? .unacknowledged : .done
        if result != expected {
            breach("commandResultsAreAsExpected", "\(command) of \(name(entry)): \(result), not \(expected)")
        }
        if result == .done { accepted(command, entry) }
    }

    func accepted(_ command: EntryCommand, _ entry: Entry) {
        simulation.count(command.rawValue)
        switch command {
        case .retry, .force:
            asked.insert(entry.id)
            retried(entry)
            excuseParents(of: entry)
            simulation.truth(of: entry)?.isAskedFor = true
            if command == .force {
                forced.insert(entry.id)
                simulation.truth(of: entry)?.forceCount += 1
            }
        case .release: heldBack.remove(entry.id)
        case .hold:
            heldBack.insert(entry.id)
            asked.remove(entry.id)
            simulation.truth(of: entry)?.retryTold = nil
        case .settle: settled(entry)
        case .abort: simulation.truth(of: entry)?.isAborted = true
        case .cancel:
            simulation.truth(of: entry)?.isCancelAsked = true
            cancelled(entry)
        }
    }

    // MARK: What the configuration said

    /// Notes the rules in force for a request, before they are applied.
    func noteRules(of lane: Simulation.Lane) {
        for client in simulation.clients {
            if let exchange = client.connection.exchange as? Exchange, let truth = client.current {
                note(exchange, truth)
            }
        }
        for attempt in lane.worker.inOrder {
            if let exchange = attempt.attempt.receiver as? Exchange, exchange.store != nil { note(exchange, attempt.truth) }
        }
    }

    /// Notes the rules that a reload gave to the entries of requests, before their exchanges are told.
    func noteRulesOfEntries() {
        let (pending, now) = (simulation.engine.assumeIsolated { $0.pending }, simulation.time.now())
        func note(_ exchange: Exchange?, _ truth: RequestTruth?) {
            guard let truth, let entry = exchange?.entry.flatMap({ pending.entry($0, now: now) }) else { return }
            self.note(entry.policy, truth)
        }
        for client in simulation.clients { note(client.connection.exchange as? Exchange, client.current) }
        for lane in simulation.lanes {
            for attempt in lane.worker.inOrder { note(attempt.attempt.receiver as? Exchange, attempt.truth) }
        }
    }

    /// Reloads that were asked for at the same moment are over.
    func loopsFollowTheLastReload() {
        let newest = simulation.configuration.routes
        let known =
            simulation.lanes.map(\.loop.configuration.routes) + [simulation.engine.assumeIsolated { $0.routes }]
        for routes in known where routes.number != newest.number || routes.policies != newest.policies || routes.routes != newest.routes {
            breach("loopsFollowTheLastReload", "a loop or the engine has kept the rules of an earlier one")
        }
    }

    func note(_ exchange: Exchange, _ truth: RequestTruth) { note(exchange.machine.attempts.policy, truth) }

    func note(_ policy: Policy, _ truth: RequestTruth) {
        if policy.automaticAttemptsMax != nil { truth.hasBeenLimited = true }
        if policy.repeatable { truth.hasBeenVouched = true }
        truth.holdMax = max(truth.holdMax, policy.holdMax)
        truth.unattendedMax = max(truth.unattendedMax, policy.unattendedMax)
        truth.holdMin = min(truth.holdMin ?? policy.holdMax, policy.holdMax)
        truth.lifetimeMin = min(truth.lifetimeMin ?? policy.lifetime, policy.lifetime)
        if let limit = policy.automaticAttemptsMax { truth.automaticMin = min(truth.automaticMin ?? limit, limit) }
        if let limit = policy.automaticAttemptsMax, let before = truth.automaticMax {
            truth.automaticMax = max(before, limit)
        } else {
            truth.automaticMax = nil
        }
    }
}
