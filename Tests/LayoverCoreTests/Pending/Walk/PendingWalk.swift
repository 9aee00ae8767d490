import LayoverTestSupport
import Retry
import Testing

@testable import LayoverCore

/// A random life of a pending set, checked after each step.
struct PendingWalk {
    var set: PendingSet
    var model = PendingModel()
    var generator: SeededGenerator
    private let seed: UInt64
    private var step = 0
    var now = Timestamp.at(.seconds(10))
    private var fresh: [Origin: Int] = [:]
    var patience: [EntryID: Bool] = [:]
    let origins = ["a", "b", "c"].map { Origin(scheme: .http, host: $0) }

    init(seed: UInt64) {
        self.seed = seed
        generator = SeededGenerator(seed: seed)
        var limits = PendingLimits()
        limits.entryCountMax = 40
        limits.heldClientCountMax = Bool.random(using: &generator) ? 25 : 100
        limits.perOriginAttemptCountMax = Int.random(in: 1...6, using: &generator)
        set = PendingSet(limits: limits)
    }

    var place: Comment { "LAYOVER_TEST_SEED=\(seed), step \(step)" }

    mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &generator) < percent
    }

    mutating func handle(_ fact: some PendingFact) -> [PendingAction] { set.handle(fact, now: now, using: &generator) }

    mutating func take(_ actions: [PendingAction]) {
        for case .start(let id, .dueTime) in actions {
            #expect(set.entries[id].map { $0.dueAt <= now } ?? true, "started early: \(place)")
        }
        for case .start(let id, let trigger) in actions where trigger != .admin && model.tickets.contains(id) {
            guard let pauseEnd = set.pauses.storePauseEnd else { continue }
            let isProbe = set.pauses.storeProbe == id
            #expect(isProbe && pauseEnd <= now, "goes though it cannot be marked: \(place)")
        }
        let started = model.take(actions, from: set, place)
        model.check(set, started: started, place)
        step += 1
    }

    // MARK: Steps

    mutating func run(stepCount: Int) {
        while step < stepCount {
            switch Int.random(in: 0..<100, using: &generator) {
            case ..<13: park()
            case ..<22: accept()
            case ..<25: store()
            case ..<60: attemptComesToSomething()
            case ..<75: wait()
            case ..<81: command()
            case ..<83: commandToIncident()
            case ..<87: network()
            case ..<91: lateWord()
            case ..<93: reroute()
            case ..<96: patch()
            case ..<98: disk()
            default: loops()
            }
        }
    }

    mutating func randomPolicy() -> Policy {
        var policy = Policy.fixture()
        policy.priority = Int.random(in: 0...7, using: &generator)
        policy.wakeOnReachable = chance(80)
        // Either it ends within the walk or it must be delivered.
        policy.holdMax =
            chance(20) ? .seconds(Int.random(in: 1...40, using: &generator)) : .seconds(1_000_000)
        policy.lifetime = .seconds(2_000_000)
        if chance(10) { policy.delay = DelaySchedule(.immediate) }
        if chance(40) { policy.onExhausted = .ask }
        policy.undecidedInLane = chance(50) ? .skip : .block
        policy.name = chance(50) ? "one" : "other"
        policy.budget =
            chance(10) ? nil : .init(ratio: policy.name == "one" ? 0.5 : 0, minimum: policy.name == "one" ? 1 : 3)
        return policy
    }

    private mutating func randomFailure() -> Failure {
        switch Int.random(in: 0..<10, using: &generator) {
        case ..<5: .refused
        case ..<7: .reset
        case ..<9: .answered(503)
        default: .fixture(.httpResponseTimeout, phase: .awaitingResponse, evidence: .maybeApplied)
        }
    }

    private mutating func parking(for failure: Failure?) -> Verdict.Parking {
        let delay = Duration.milliseconds(Int.random(in: 0...60_000, using: &generator))
        let shutsGate = failure?.shutsGate ?? false
        if failure?.evidence == .maybeApplied, chance(20) {
            return .init(delay: .zero, shutsGate: false, asks: .maybeApplied, rule: .onMaybeApplied)
        }
        if failure != nil, chance(8) {
            return .init(delay: .zero, shutsGate: shutsGate, asks: .exhausted, rule: .onExhausted)
        }
        return .init(
            delay: chance(15) ? .zero : delay, shutsGate: shutsGate,
            rule: failure == nil ? .gate : failure?.evidence == .answered ? .status : .retryOn)
    }

    private mutating func park() {
        guard let origin = origins.randomElement(using: &generator) else { return }
        let policy = randomPolicy()
        let failure = chance(40) ? nil : randomFailure()
        let id = EntryID(using: &generator)
        let (parking, isExposed) = (parking(for: failure), chance(30))
        model.offered(id, origin: origin, isExposed: isExposed)
        patience[id] = policy.holdMax > .seconds(100)
        let new = NewEntry(
            id: id, method: "GET", url: "http://\(origin.host)/", origin: origin, policy: policy, client: .init(address: ""),
            createdAt: now, attemptCount: failure == nil ? 0 : 1, isExposed: isExposed, failure: failure, parking: parking)
        take(handle(ParkRequested(laned(new))))
    }

    func tally(_ id: EntryID) -> AttemptTally { AttemptTally(set.counts(id, all: 2)) }

    private mutating func attemptComesToSomething() {
        if chance(50), let id = model.all(.responding).randomElement(using: &generator) {
            return end(id)
        }
        guard let id = model.all(.attempting).randomElement(using: &generator) else { return wait() }
        switch Int.random(in: 0..<10, using: &generator) {
        case ..<4: fail(id)
        case ..<8:
            model.states[id] = .responding
            take(handle(AttemptAnswered(id, tally(id))))
        default: end(id)
        }
    }

    private mutating func fail(_ id: EntryID) {
        let cutOff = Failure.fixture(.proxyInternalError, phase: .connecting)
        let isCutOff = model.abandoned.contains(id) && chance(70)
        let failure = isCutOff ? cutOff : randomFailure()
        model.states[id] = .waiting
        model.wasForced.remove(id)
        let parking =
            isCutOff
            ? .init(delay: .zero, shutsGate: false, rule: .networkChanged) : parking(for: failure)
        take(handle(AttemptFailed(id, failure, parking, tally(id))))
    }

    private mutating func end(_ id: EntryID) {
        model.wasForced.remove(id)
        let state =
            model.states[id] == .responding && chance(80)
            ? .delivered : [EntryState.delivered, .failed, .cancelled].randomElement(using: &generator) ?? .delivered
        let failure = state == .delivered || chance(30) ? nil : randomFailure()
        if state == .delivered { model.delivered.insert(id) }
        take(handle(ExchangeEnded(id, as: state, failure: failure, tally(id))))
    }

    private mutating func wait() {
        if chance(40), let next = set.nextWakeAt, next > now, next - now < .seconds(100) {
            now = next
        } else {
            now = now + .milliseconds(Int.random(in: 0...5_000, using: &generator))
        }
        advance()
    }

    private mutating func advance() {
        take(handle(TimePassed()))
        #expect(set.nextWakeAt.map { $0 > now } ?? true, place)
    }

    private mutating func command() {
        let command = EntryCommand.allCases.randomElement(using: &generator) ?? .retry
        let live = model.all(.waiting) + model.all(.attempting)
        guard let id = live.randomElement(using: &generator), let entry = set.entry(id, now: now) else {
            return
        }
        let (isStale, isAcknowledged) = (chance(10), chance(80))
        let (result, actions) = set.commanded(
            command, id, revision: isStale ? entry.revision + 1 : entry.revision,
            acknowledgement: isAcknowledged ? EntryCommand.duplicateRisk : nil, now: now)
        let expected: EntryCommandResult =
            isStale
            ? .stale
            : !entry.actions.contains(command)
                ? .conflict
                : command == .force && !isAcknowledged ? .unacknowledged : .done
        #expect(result == expected, place)
        #expect(result == .done || actions.isEmpty, place)
        if result == .done {
            model.meant = [id]
            if command == .force { model.wasForced.insert(id) }
            if command == .settle { model.delivered.insert(id) }
            if command == .retry, entry.why == .parentFailed { model.wasReleased.insert(id) }
        }
        take(actions)
    }

    private mutating func commandToIncident() {
        guard let incident = set.incidents(now: now).randomElement(using: &generator) else { return }
        #expect(incident.waiting > 0 && incident.actions.contains(.cancel), place)
        let command: EntryCommand = incident.actions.contains(.retry) && chance(70) ? .retry : .cancel
        model.meant = Set(set.entries.values.filter { $0.incident == incident.id }.map(\.id))
        let attempting = Set(model.all(.attempting) + model.all(.responding))
        if command == .retry {
            let released = set.entries.values.filter { $0.incident == incident.id && $0.why == .parentFailed }
            model.wasReleased.formUnion(released.map(\.id))
        }
        let (result, actions) = set.commanded(command, incident: incident.id, now: now)
        #expect(result == .done, place)
        if command == .cancel {
            // The child of a member may have become one meanwhile.
            #expect(model.meant.allSatisfy { set.entries[$0] == nil }, "a member is left: \(place)")
        } else {
            let left = set.entries.values.filter { $0.incident == incident.id && !attempting.contains($0.id) }
            #expect(left.allSatisfy { $0.state == .waiting || $0.state == .attempting || $0.why == .maybeApplied }, place)
        }
        take(actions)
    }

    private mutating func network() {
        switch Int.random(in: 0..<10, using: &generator) {
        case ..<4: take(handle(NetworkMayBeReachable()))
        case ..<6: take(handle(PortalChanged(isBehindPortal: !set.isBehindPortal)))
        case ..<8: set.networkNoted(isAway: !set.isNetworkAway)
        default:
            let mode: ReachabilityMode = set.mode == .offline || chance(50) ? .auto : .offline
            take(handle(ModeChanged(to: mode)))
        }
    }

    private mutating func reroute() {
        let live = model.all(.waiting) + model.all(.attempting)
        guard let id = live.randomElement(using: &generator) else { return }
        let policy = randomPolicy()
        patience[id] = policy.holdMax > .seconds(100)
        take(set.rerouted(id, "new", policy, nil, nil, now: now))
    }

    /// Words about an entry that came to its end change nothing.
    private mutating func lateWord() {
        guard let id = model.all(.ended).randomElement(using: &generator) else { return }
        let actions =
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: handle(AttemptAnswered(id, tally(id)))
            case 1: handle(ExchangeEnded(id, as: .failed, failure: .refused, tally(id)))
            case 2: handle(AttemptFailed(id, .refused, .init(delay: .zero, shutsGate: true), tally(id)))
            default: set.commanded(.retry, id, now: now).1
            }
        #expect(actions.isEmpty, place)
        take(actions)
    }

    private mutating func loops() {
        guard let origin = origins.randomElement(using: &generator) else { return }
        if chance(30) { return take(handle(OriginAnswered(origin))) }
        let difference = fresh[origin, default: 0] > 0 && chance(60) ? -1 : 1
        fresh[origin, default: 0] += difference
        take(handle(FreshAttemptCountChanged(origin, by: difference)))
    }

    // MARK: The end of the walk

    /// From now on every origin answers: whatever is alive is delivered, in good time.
    mutating func recover() {
        take(handle(ModeChanged(to: .auto)))
        take(handle(PortalChanged(isBehindPortal: false)))
        for id in model.beingStored.sorted(by: { $0.low < $1.low }) { stored(id) }
        decide()
        for (origin, count) in fresh { take(handle(FreshAttemptCountChanged(origin, by: -count))) }
        let start = now
        let patient = set.entries.keys.filter { patience[$0] == true }
        for _ in 0..<2_000 where set.count > 0 {
            for id in model.all(.attempting) + model.all(.responding) {
                if model.tickets.contains(id) { take(handle(StoreRecovered())) }
                model.states[id] = .responding
                take(handle(AttemptAnswered(id, tally(id))))
                model.delivered.insert(id)
                take(handle(ExchangeEnded(id, as: .delivered, tally(id))))
            }
            for id in model.offered.sorted(by: { $0.low < $1.low }) { declines(id) }
            // Those whose parents were lost meanwhile.
            decide()
            guard set.count > 0, model.all(.attempting).isEmpty, let next = set.nextWakeAt else { continue }
            now = max(now, next)
            advance()
        }
        #expect(set.count == 0, "somebody waits for ever: \(place)")
        #expect(now - start <= .seconds(61), "somebody waited too long: \(place)")
        for id in patient { #expect(set.entry(id, now: now)?.state == .delivered, place) }
        #expect(set.origins.states.values.allSatisfy { $0.entryCount == 0 && $0.underWay == 0 }, place)
    }

    /// Somebody answers every question, and stops nobody any more.
    private mutating func decide() {
        for entry in Array(set.entries.values) {
            guard let command = [EntryCommand.release, .force, .retry].first(where: entry.actions.contains),
                entry.state == .held || entry.state == .undecided
            else { continue }
            model.meant = [entry.id]
            if command == .force { model.wasForced.insert(entry.id) }
            if entry.why == .parentFailed { model.wasReleased.insert(entry.id) }
            let (result, actions) = set.commanded(
                command, entry.id, acknowledgement: EntryCommand.duplicateRisk, now: now)
            #expect(result == .done, place)
            take(actions)
        }
    }

    /// Whatever is alive ends: at once or with its attempt.
    mutating func drain() {
        model.isDraining = true
        take(handle(DrainBegan()))
        for id in model.offered.sorted(by: { $0.low < $1.low }) { declines(id) }
        for id in model.beingStored.sorted(by: { $0.low < $1.low }) { if chance(50) { stored(id) } else { notStored(id) } }
        let waiting = model.all(.waiting)
        #expect(waiting.allSatisfy(model.tickets.contains), place)
        park()
        accept()
        wait()
        for id in model.all(.attempting) { if chance(50) { fail(id) } else { end(id) } }
        for id in model.all(.responding) { end(id) }
        #expect(set.heldCount == 0 && set.entries.keys.allSatisfy(model.tickets.contains), place)
    }
}
