/// The machine of one exchange: its phase, its attempts, its way to a ticket, and the step after each fact.
///
/// Facts go in with their time, and steps come out, which the exchange performs. Attempts for a client, the store or the cache are
/// counted, judged (`AttemptRules`) and recorded by this machine alone. `ExchangeMachine+Client` has the first step, clients
/// that leave, and ends; `+Responses` has responses that are retried or resumed; `+Ticket` has the way to a ticket. `KeySearch` is the
/// machine of the search for requests with the same key.
package struct ExchangeMachine: Sendable {
    /// The recipient of the response, whether it is still there or not.
    package enum Holder: Sendable, Hashable {
        /// The client reads the response as it comes: past the head there is no going back.
        case client
        /// The request is a ticket.
        case store(Storing)
        case cache

        var isStore: Bool { if case .store = self { true } else { false } }
    }

    /// How far the store has a request that is a ticket.
    package enum Storing: Sendable, Hashable {
        /// The store does not have the request yet: it is asked for the ticket, or will be.
        case unstored
        /// The store has the request, so that its next attempt gets an exchange of its own.
        case stored
        /// The store has not taken the ticket.
        case refused
    }

    /// What follows an attempt that failed.
    package enum FailureStep: Sendable, Hashable {
        /// The same attempt once more, on a new connection.
        case again(AttemptTrigger)
        /// The rest of the request is waited for: then `collected` decides.
        case collect
        case park(Failure, Verdict.Parking)
        case standIn(StandInResponse, Failure)
        case fail(Failure, Verdict.FailReason)
        /// The response had begun, and is not asked for again: what is known of it is all there will be.
        case breakOff(Failure)
        /// All of the response had come.
        case finish

        /// Whether no other attempt is made at once, and nothing of the response was delivered.
        package var endsTheTry: Bool {
            switch self {
            case .again, .collect, .breakOff, .finish: false
            case .park, .standIn, .fail: true
            }
        }
    }

    /// What follows the response to a preflight.
    package enum PreflightStep: Sendable, Hashable {
        /// The attempt begins, which was counted under this number when the preflight began.
        case send(number: Int)
        /// The request is of no use any more.
        case drop(Failure)
        /// A person has to decide.
        case ask(Failure)
    }

    /// What of our own stopped an attempt, so that no policy is asked.
    package enum Obstacle: Sendable, Hashable {
        /// The store did not take note of the attempt.
        case startNotRecorded
        /// The file of the body could not be read to its end.
        case bodyUnreadable
    }

    /// What the verdict on a failure depends on besides the failure.
    package struct Circumstances: Sendable {
        package var request: RequestSummary
        package var network: NetworkCondition
        package var now: Timestamp
        package var obstacle: Obstacle?
        /// The request of a client that has closed its side; nil: there is no client, or it has not.
        package var closedInput: Departure?
        /// The part of the response that has come, if its rest can be asked for.
        package var part: ResumableResponse?

        package init(request: RequestSummary, network: NetworkCondition, now: Timestamp, obstacle: Obstacle? = nil) {
            self.request = request
            self.network = network
            self.now = now
            self.obstacle = obstacle
        }
    }

    package private(set) var phase: ExchangePhase
    package internal(set) var holder: Holder
    package internal(set) var attempts: AttemptRules
    package internal(set) var lastFailure: Failure?
    package private(set) var timeline = AttemptTimeline()
    /// The response that broke off and is to go on; nil while none has.
    @Boxed package internal(set) var resumable: ResumableResponse? = nil
    /// The failure on which the verdict is to be made once all of the request has come.
    @Boxed private var awaited: Failure? = nil
    /// Bytes of the body that had come when the count of attempts began last.
    var partMark = 0
    /// The last status that did not show the outcome of the request (`RepeatedResponse`); nil while there is none.
    package internal(set) var unknownStatus: Int?

    /// When its client takes a ticket.
    package internal(set) var ticketMoment: TicketMoment
    var ticketProgress = TicketProgress.none
    var key = KeySearch()
    private var cacheLook = CacheLook.unread
    var stop = Stop.none

    package init(
        for holder: Holder, _ attempts: AttemptRules, phase: ExchangePhase = .collecting(for: .attempt), ticket: TicketMoment = .never
    ) {
        self.holder = holder
        self.attempts = attempts
        self.phase = phase
        ticketMoment = ticket
    }

    /// How long an attempt waits after our own store was in its way. Default: 5 s.
    private static let storeDelay: Duration = .seconds(5)

    // MARK: Phases

    mutating func enter(_ next: ExchangePhase) {
        assert(next == phase || phase.exits.contains(next), "from \(phase) to \(next)")
        phase = next
    }

    /// The cache is looked through, once in the life of the exchange.
    ///
    /// - Returns: False where it was before.
    package mutating func cacheSearchBegan() -> Bool {
        guard cacheLook == .unread else { return false }
        cacheLook = .read
        enter(.searching(.cache))
        return true
    }

    private enum CacheLook: Sendable { case unread, read }

    /// The request is on its way to the store.
    package mutating func acceptanceBegan() { enter(.accepting) }

    /// A response is withheld until the engine, or the code in its body, decides about it.
    package mutating func responseIsWithheld() { enter(.withholding) }

    /// The response goes to its recipient.
    package mutating func deliveryBegan() { enter(.delivering) }

    /// Nothing is under way any more, and another attempt may follow. A request that the store has waits there, unless a part of its
    /// response has come.
    package mutating func rested() {
        // mutant: nobody-left
        enter(isStored && resumable == nil ? .ended : .parked)
    }

    private var isStored: Bool { holder == .store(.stored) }

    /// Nothing more is done for its recipient.
    package mutating func ended() { enter(.ended) }

    /// The store gets the response from now on. The attempt under way goes on.
    package mutating func becomeTicket(_ storing: Storing) {
        holder = .store(storing)
        if phase != .attempting, phase != .withholding { phase = .parked }
    }

    /// A reload has given the request another policy.
    package mutating func policyChanged(to policy: Policy) { attempts.policy = policy }

    // MARK: Attempts

    /// Counts an attempt that starts now.
    ///
    /// - Returns: Its number, from 1.
    package mutating func startAttempt(_ trigger: AttemptTrigger, at now: Timestamp) -> Int {
        enter(.attempting)
        return begin(trigger, at: now)
    }

    /// The question before the attempt counts as the attempt: if it fails, so has the attempt, and nothing was sent.
    package mutating func startPreflight(_ trigger: AttemptTrigger, at now: Timestamp) -> Int {
        enter(.preflight)
        return begin(trigger, at: now)
    }

    /// Decides what follows the response to the preflight.
    package mutating func preflightAnswered(status: Int, at now: Timestamp) -> PreflightStep {
        var failure = Failure.answered(status)
        failure.message = "The preflight was answered with status \(status)."
        failure.evidence = .neverSent
        switch attempts.policy.preflight?.verdict(on: status) ?? .send {
        case .send:
            enter(.attempting)
            let number = timeline.begun?.number ?? attempts.attemptCount
            timeline.began(number, timeline.begun?.trigger ?? .dueTime, at: now)
            return .send(number: number)
        case .drop:
            lastFailure = failure
            record(.fail(.preflight), failure: failure, at: now)
            return .drop(failure)
        case .ask:
            lastFailure = failure
            record(.fail(.preflight), failure: failure, at: now)
            return .ask(failure)
        }
    }

    private mutating func begin(_ trigger: AttemptTrigger, at now: Timestamp) -> Int {
        let number = attempts.attemptStarted(trigger: trigger)
        timeline.began(number, trigger, at: now)
        return number
    }

    /// Notes who carries the attempt under way.
    package mutating func attemptGoes(by path: AttemptPath?) { timeline.goes(by: path) }

    /// libcurl has sent the request again by itself within the attempt under way.
    package mutating func sentAgain(_ count: Int) { attempts.sentAgainWithinAttempt(count) }

    /// Writes the attempt that has ended into the timeline.
    package mutating func record(
        _ verdict: Verdict?, failure: Failure? = nil, status: Int? = nil, connection: ConnectionFacts? = nil, at now: Timestamp
    ) {
        timeline.ended(at: now, verdict, failure: failure, status: status, connection: connection)
    }

    package mutating func takeRecords() -> [AttemptRecord] { timeline.takeRecords() }

    // MARK: Failures

    /// Decides what follows an attempt that failed, or whose response broke off.
    package mutating func attemptFailed(
        _ failure: Failure, in circumstances: Circumstances, using generator: inout some RandomNumberGenerator
    ) -> FailureStep {
        var failure = failure
        // First: with a part of its response the request could not become a ticket.
        let request = judged(circumstances)
        // Of the request itself nothing has left.
        if phase == .preflight { failure.evidence = .neverSent }
        let wasDelivering = phase == .delivering
        if wasDelivering, resumable == nil { resumable = circumstances.part }
        if wasDelivering {
            // The store and the cache have not used it yet, so that all of it can be asked for, too. A client gets the rest.
            guard holder != .client || resumable != nil, circumstances.request.isRepeatable else {
                return breakOff(failure, at: circumstances.now)
            }
            if resumable?.isComplete == true { return .finish }
            failure.evidence = .maybeApplied
            // mutant: endless-rests
            if let resumable, resumable.done - partMark >= ResumableResponse.progressMin {
                partMark = resumable.done
                attempts.startOver()
            }
        }
        if let obstacle = circumstances.obstacle { return stopped(by: obstacle, failure, in: circumstances) }
        // mutant: aborted-as-unsent
        if attempts.isAborted { failure.becomeAborted() }
        lastFailure = failure
        // An attempt that is made once more is made for the same reason.
        let trigger = timeline.begun?.trigger ?? .arrival
        let verdict = attempts.verdict(on: failure, sending: request, network: circumstances.network, using: &generator)
        // What is not asked for again is known as far as it came.
        if wasDelivering || holder == .client && resumable != nil, !verdict.sendsAgain {
            return breakOff(failure, at: circumstances.now)
        }
        // The request may be repeated, and only the end of its body is missing.
        if verdict == .fail(.bodyNotReplayable), circumstances.request.body == .arriving, phase == .attempting {
            awaited = failure
            enter(.collecting(for: .verdict))
            return .collect
        }
        awaited = nil
        record(verdict, failure: failure, at: circumstances.now)
        switch verdict {
        case .againOnNewConnection:
            attempts.hasTriedNewConnection = true
            return .again(trigger)
        case .park(let parking): return .park(failure, parking)
        case .standIn(let response): return .standIn(response, failure)
        case .fail(let reason): return .fail(failure, reason)
        case .deliver: return .breakOff(failure)
        }
    }

    /// The request as the rules judge it. If its client has closed its side and the request goes on without it, the attempt is judged
    /// as that of a ticket.
    func judged(_ circumstances: Circumstances) -> RequestSummary {
        var request = circumstances.request
        request.isTicket = holder.isStore || circumstances.closedInput.map(isLeftBehind) == true
        return request
    }

    /// Decides what follows the failure for which the rest of the request was waited for: all of it has come, or no more of it can be kept.
    ///
    /// - Returns: Nil if no failure waited for the request.
    package mutating func collected(
        in circumstances: Circumstances, using generator: inout some RandomNumberGenerator
    ) -> FailureStep? {
        guard phase == .collecting(for: .verdict), let awaited else { return nil }
        return attemptFailed(awaited, in: circumstances, using: &generator)
    }

    mutating func breakOff(_ failure: Failure, at now: Timestamp) -> FailureStep {
        lastFailure = failure
        record(holder == .client ? .fail(.responseBegan) : .deliver(.notRepeatable), failure: failure, at: now)
        return .breakOff(failure)
    }

    /// Parks a request whose attempt was stopped by an obstacle inside Layover. The origin is not the cause.
    private mutating func stopped(by obstacle: Obstacle, _ failure: Failure, in circumstances: Circumstances) -> FailureStep {
        var failure = failure
        if obstacle == .bodyUnreadable { failure.message = "The file of the request body could not be read completely." }
        lastFailure = failure
        attempts.stoppedByStore(failure.evidence)
        let isOpen = failure.evidence == .maybeApplied && !circumstances.request.isRepeatable
        let parking = Verdict.Parking(
            delay: Self.storeDelay, shutsGate: false, asks: isOpen ? .maybeApplied : nil, rule: .store)
        record(.park(parking), failure: failure, at: circumstances.now)
        return .park(failure, parking)
    }

    /// Nothing could be sent: the store, or the end of the proxy, is in the way.
    package mutating func couldNotStart(_ failure: Failure) -> Verdict.Parking {
        if timeline.begun != nil { attempts.stoppedByStore(.neverSent) }
        lastFailure = failure
        return Verdict.Parking(delay: Self.storeDelay, shutsGate: false, rule: .store)
    }

    /// The request must not be sent now, so nothing of its response is kept.
    package mutating func sendingWasRefused() { resumable = nil }

    // MARK: Starts and interruptions

    /// Step of a request whose turn has come.
    package enum StartStep: Sendable, Hashable {
        case preflight(Preflight)
        case attempt
        case park(Failure, Verdict.Parking)
        /// A reload forbids a second sending. It came while the request was being read from the store.
        case refuse
    }

    /// - Parameters:
    ///   - isForced: Whether a person took the risk that it acts twice.
    ///   - skipsPreflight: Whether no preflight is sent, whatever the policy says.
    package mutating func turnCame(
        isForced: Bool, isOffline: Bool, skipsPreflight: Bool, sending request: RequestSummary,
        using generator: inout some RandomNumberGenerator
    ) -> StartStep {
        if isOffline { return offlineBeforeStart() }
        if let step = abortedBeforeStart(using: &generator) { return step }
        attempts.isForced = isForced
        guard isForced || attempts.mayBeSent(request) else { return .refuse }
        attempts.hasTriedNewConnection = false
        guard let preflight = attempts.policy.preflight, holder.isStore, !skipsPreflight else { return .attempt }
        return .preflight(preflight)
    }

    /// Why an attempt is interrupted.
    package enum Interruption: Sendable, Hashable {
        /// A person aborted it.
        case command
        /// The network changed while it was connecting.
        case networkChange
        /// A person set the mode `offline` before anything was sent.
        case modeWhileConnecting
        /// A person set the mode `offline`, which cuts off what is under way. An attempt that has sent nothing waits.
        case modeAtAnyTime
    }

    package mutating func attemptInterrupted(by cause: Interruption) { attempts.interrupted(by: cause) }

    /// The workers are about to be shut down.
    package mutating func stopBegan() { attempts.isStopping = true }

    /// The step after the abort of an attempt whose request was still being read.
    ///
    /// - Returns: Nil if nobody aborted the attempt.
    private mutating func abortedBeforeStart(using generator: inout some RandomNumberGenerator) -> StartStep? {
        guard phase == .loading, attempts.isAborted else { return nil }
        var failure = Failure(phase: .resolving, kind: .proxyInternalResponse, evidence: .neverSent, message: "")
        failure.becomeAborted()
        lastFailure = failure
        return .park(failure, attempts.parkingAfterAbort(using: &generator))
    }

    /// A person set the mode `offline` before it began: what it needs was still being read.
    private mutating func offlineBeforeStart() -> StartStep {
        let failure = Failure(
            phase: .resolving, kind: .proxyInternalResponse, evidence: .neverSent, message: "A person set the mode to offline.")
        lastFailure = failure
        return .park(failure, Verdict.Parking(delay: .zero, shutsGate: false, rule: .offline))
    }
}
