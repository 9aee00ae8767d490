import LayoverTestSupport

@testable import LayoverCore

extension StateTable {
    /// The phases of one exchange, with the recipient that has the most of them.
    static var exchange: StateTable {
        StateTable(
            name: "An exchange",
            introduction: """
                The phases of one request on its loop, here with the store as the recipient of the response. A client is asked for no \
                preflight, and a response to it that breaks off ends the exchange unless its rest can be asked for \
                ([resuming](resuming.md)). Both kinds of searching end in an attempt, a response or a wait. What the machine answers stands after the arrow.
                """,
            states: ExchangePhase.all.map(\.name),
            events: [
                "aborted while loading", "attempt starts", "preflight starts", "preflight wants it", "preflight drops it",
                "cache is searched",
                "key is searched", "key is free", "key is taken", "store cannot be read", "outcome is there", "tokens are in the body",
                "accepted at once", "ticket is wanted", "others want a ticket",
                "attempt fails, park", "attempt fails, connection had died", "attempt fails for good", "attempt fails, PUT arriving",
                "request is complete", "answer", "answer, status retried",
                "answer breaks off", "answer breaks off, POST", "parked", "client left", "client left, POST", "client left, adopt",
                "client left, request unsent", "entry ended", "proxy stops", "ended",
            ]
        ) { state, event in
            var trial = ExchangeTrial(state)
            let action = trial.meet(event)
            return .init(next: trial.machine.phase.name, actions: action.map { [$0] } ?? [])
        }
    }
}

extension ExchangePhase {
    fileprivate var name: String {
        switch self {
        case .collecting(.attempt): "collecting (for an attempt)"
        case .collecting(.ticket): "collecting (for a ticket)"
        case .collecting(.verdict): "collecting (for a verdict)"
        case .searching(.cache): "searching (cache)"
        case .searching(.duplicateKey): "searching (key)"
        default: "\(self)"
        }
    }
}

private struct ExchangeTrial {
    var machine: ExchangeMachine
    private var generator = SeededGenerator(seed: 1)
    private let now = Timestamp.at(.seconds(1))

    init(_ state: String) {
        let phase = ExchangePhase.all.first { $0.name == state } ?? .collecting(for: .attempt)
        let policy = Policy.fixture {
            $0.retryOn = [.connectivity, .status(503)]
            $0.preflight = Preflight()
        }
        // A ticket that is accepted before any attempt has a client, which gets its 202 at once.
        let isAtOnce = phase == .collecting(for: .ticket) || phase == .accepting
        machine = ExchangeMachine(
            for: isAtOnce ? .client : .store(.unstored), AttemptRules(policy: policy), phase: phase,
            ticket: isAtOnce ? .atOnce : .afterWait)
    }

    /// - Returns: The action of the machine.
    mutating func meet(_ event: String) -> String? {
        switch event {
        case "aborted while loading" where machine.phase == .loading:
            machine.attemptInterrupted(by: .command)
            let step = machine.turnCame(
                isForced: false, isOffline: false, skipsPreflight: false, sending: RequestSummary(method: "GET"), using: &generator)
            return "\(step)".prefix { $0 != "(" }.description
        case "attempt starts" where may(.attempting): _ = machine.startAttempt(.dueTime, at: now)
        case "preflight starts" where may(.preflight): _ = machine.startPreflight(.dueTime, at: now)
        case "preflight wants it" where machine.phase == .preflight: return preflight(200)
        case "preflight drops it" where machine.phase == .preflight: return preflight(404)
        case "cache is searched" where may(.searching(.cache)): _ = machine.cacheSearchBegan()
        case "key is searched" where may(.searching(.duplicateKey)): machine.keySearchBegan()
        case "key is free", "key is taken", "store cannot be read", "outcome is there": return key(event)
        case "tokens are in the body" where machine.phase == .collecting(for: .attempt):
            _ = machine.readsBodyFirst(isComplete: false, isOverMax: false)
            _ = machine.bodyWasRead(hasTokens: true)
        case "ticket is wanted":
            return "\(machine.ticketIsWanted(.transfer, isComplete: true, storesTickets: true, isLast: false))"
        case "others want a ticket":
            var departure = departure("POST")
            departure.storesTickets = true
            _ = machine.othersWantTicket(departure, isUnderWay: true)
        case "accepted at once" where may(.accepting): machine.acceptanceBegan()
        case "attempt fails, park" where isTrying: return fail(.refused)
        case "attempt fails, connection had died" where isTrying:
            return fail(.fixture(.connectionTerminated, phase: .sending, evidence: .maybeApplied, reusedConnection: true))
        case "attempt fails for good" where isTrying: return fail(.fixture(.httpProtocolError, phase: .connecting))
        case "attempt fails, PUT arriving" where isTrying: return fail(.reset, method: "PUT", body: .arriving)
        case "request is complete" where machine.phase == .collecting(for: .verdict):
            // The trial is a new one, in which a failure has come before.
            var trial = ExchangeTrial(ExchangePhase.attempting.name)
            _ = trial.fail(.reset, method: "PUT", body: .arriving)
            let step = trial.machine.collected(
                in: .init(request: RequestSummary(method: "PUT", body: .captured), network: .init(), now: now), using: &generator)
            machine = trial.machine
            return step.map { "\($0)".prefix { $0 != "(" }.description }
        case "answer" where may(.delivering): machine.deliveryBegan()
        case "answer, status retried" where machine.phase == .attempting:
            let step = machine.answered(
                ResponseSummary(status: 503), sending: RequestSummary(method: "GET"), connection: nil, at: now, using: &generator)
            return "\(step)".prefix { $0 != "(" }.description
        case "answer breaks off" where machine.phase == .delivering: return fail(.reset)
        case "answer breaks off, POST" where machine.phase == .delivering: return fail(.reset, method: "POST")
        case "parked" where may(.parked): machine.rested()
        case "client left": return leave("GET")
        case "client left, POST": return leave("POST")
        case "client left, adopt":
            machine.attempts.policy.clientGone = .adopt
            return leave("POST") { $0.storesTickets = true }
        case "client left, request unsent" where machine.phase == .delivering:
            return leave("POST") { $0.onlyNeedsRequestSent = true }
        case "entry ended":
            let step = machine.entryEnded(.cancelled(reason: nil), hasBegunSending: false)
            return step == .none ? nil : "\(step)"
        case "proxy stops":
            let step = machine.cutOff(departure("POST"))
            return step == .none ? nil : "\(step)"
        case "ended" where may(.ended): machine.ended()
        default: break
        }
        return nil
    }

    private mutating func key(_ event: String) -> String? {
        guard machine.phase == .searching(.duplicateKey) else { return nil }
        let step =
            switch event {
            case "key is free": machine.keyIsFree()
            case "key is taken": machine.keyIsTaken(.outcome, isInputClosed: false)
            case "store cannot be read": machine.keyIsTaken(.store, isInputClosed: false)
            default: machine.outcomeCame()
            }
        return step == .none ? nil : "\(step)"
    }

    private var isTrying: Bool { machine.phase == .attempting || machine.phase == .preflight }

    private func may(_ next: ExchangePhase) -> Bool { machine.phase.exits.contains(next) }

    private func departure(_ method: String) -> ExchangeMachine.Departure {
        .init(purpose: .transfer, method: method, isComplete: true, hasBegunSending: true)
    }

    private mutating func leave(_ method: String, _ change: (inout ExchangeMachine.Departure) -> Void = { _ in }) -> String? {
        var departure = departure(method)
        change(&departure)
        let step = machine.clientLeft(departure)
        return step == .none ? nil : "\(step)".prefix { $0 != "(" }.description
    }

    private mutating func preflight(_ status: Int) -> String {
        "\(machine.preflightAnswered(status: status, at: now))".prefix { $0 != "(" }.description
    }

    private mutating func fail(_ failure: Failure, method: String = "GET", body: RequestSummary.Body = .none) -> String {
        let step = machine.attemptFailed(
            failure, in: .init(request: RequestSummary(method: method, body: body), network: .init(), now: now), using: &generator)
        return "\(step)".prefix { $0 != "(" }.description
    }
}
