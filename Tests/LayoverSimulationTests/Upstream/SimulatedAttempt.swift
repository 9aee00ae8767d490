import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverTestSupport
import NIOCore

@testable import LayoverProxy

/// One attempt on its way through its fate.
final class SimulatedAttempt {
    let attempt: UpstreamAttempt
    let truth: RequestTruth
    /// The requests of its client that it may be the attempt of: those with the same key look alike.
    let askers: [RequestTruth]
    /// When it was first seen to go on without its client.
    var unattendedSince: Timestamp?
    let worker: SimulatedWorker
    let serial: Int
    let trigger: AttemptTrigger
    let startedAt: Timestamp
    private(set) var fate: Fate
    /// True if the attempt ends at its parent proxy.
    private var endsAtParentProxy = false
    private(set) var isCancelled = false
    private(set) var isOver = false
    var hasHead = false
    private var reader: CapturedBody.Reader?
    private var takenCount = 0
    private var takenCountMax = Int.max
    private var whenTaken: (() -> Void)?
    private var hasTakenAll = false
    private(set) var isReusingConnection = false
    /// True if the configuration at the start of the attempt allows a second sending.
    let isRepeatable: Bool
    /// True if a person accepted the risk of a second execution.
    var isForced = false
    var goesOnSending: (() -> Void)?
    /// True if the attempt belonged to a ticket from its beginning.
    let isOfTicket: Bool
    /// Where its note on disk stands; nil: it needs none, or has it.
    private var mark: (mark: StartRecord, counts: AttemptCounts, exchange: Exchange)?
    private var isMarking = false
    /// True if the disk did not take the start record.
    private(set) var wasNotMarked = false
    private var whenMarked: ((SimulatedAttempt) -> Void)?
    /// True if a person or a client was told of the cancellation before.
    private(set) var isTooLate = false
    var generator: SeededGenerator

    var simulation: Simulation { worker.simulation }

    init(_ attempt: UpstreamAttempt, truth: RequestTruth, worker: SimulatedWorker) {
        self.attempt = attempt
        self.truth = truth
        self.worker = worker
        serial = worker.simulation.nextSerial()
        startedAt = worker.simulation.time.now()
        let exchange = attempt.receiver as? Exchange
        let connection = exchange?.client?.connection
        let client = connection.flatMap { connection in worker.simulation.clients.first { $0.connection === connection } }
        askers = client?.requests.filter { $0 === truth || $0.original === truth } ?? []
        isOfTicket = exchange?.store != nil
        trigger = exchange?.machine.timeline.begun?.trigger ?? .arrival
        if attempt.permit != nil, let exchange, let mark = exchange.run.startRecord {
            self.mark = (mark, exchange.machine.attempts.counts, exchange)
        }
        // A generator of its own, so that other attempts do not change the outcome of this one.
        generator = SeededGenerator(
            seed: worker.simulation.seed &* 1_000_003 &+ UInt64(truth.number) &* 1009
                &+ UInt64(truth.startCount))
        fate = worker.simulation.fate(of: truth, using: &generator)
        if let parentProxy = attempt.request.parentProxy {
            worker.simulation.count("attempts by a parent proxy")
            let parentProxyFate = worker.simulation.fate(at: parentProxy, of: truth)
            endsAtParentProxy = parentProxyFate != nil
            fate = parentProxyFate ?? worker.simulation.fateBehindParentProxy(fate, of: truth)
        }
        truth.triedParentProxyGates = [attempt.request.parentProxy?.gate]
        isTooLate = truth.isCancelTold
        isRepeatable = truth.isRepeatable(in: worker.simulation.configuration.routes)
    }

    /// True if the connection is not established yet, as seen from outside.
    var isConnecting: Bool { !isOver && !isCancelled && !isMarking && !attempt.hasBegunSending.load(ordering: .relaxed) }

    var name: String { "r\(truth.number).\(attempt.number)" }

    // MARK: The way through

    func begin() {
        simulation.trace {
            "\(self.name) starts by \(self.trigger) to \(self.truth.origin), which \(self.fate.word)"
        }
        switch fate {
        case .neverConnects(let kind, let phase, let wait, let isNameUnknown):
            later(min(wait, attempt.request.timeouts.connect)) {
                $0.fail(kind, phase, .neverSent, isNameUnknown: isNameUnknown)
            }
        case .isRefused(let wait):
            later(min(wait, attempt.request.timeouts.connect)) { me in
                me.fail(me.failure(.connectionTerminated, .connecting, .neverSent).refusedByParentProxy(503))
            }
        case .isDenied(let wait):
            later(wait) { me in me.fail(me.failure(.connectionTerminated, .connecting, .neverSent).refusedByParentProxy(403)) }
        case .breaksBeforeSending(let wait):
            later(wait) { me in me.marked { $0.fail(.connectionTerminated, .sending, .neverSent) } }
        case .breaksAfterSending(let kind, let count, let wait, let isStale):
            isReusingConnection = isStale && !attempt.needsFreshConnection
            later(wait) { me in
                me.marked { me in
                    me.send(atMost: count) { me in
                        me.later(wait) { $0.fail(kind, .awaitingResponse, .maybeApplied) }
                    }
                }
            }
        case .answers(let reply):
            later(reply.connectsAfter) { me in me.marked { $0.answer(reply) } }
        case .staysSilent:
            later(.milliseconds(10)) { me in me.marked { $0.send(atMost: .max) { _ in } } }
        }
    }

    /// The origin is well again: what hangs for ever comes to its response.
    func recover() {
        guard case .staysSilent = fate, !hasHead else { return }
        fate = .answers(.init())
        later(.milliseconds(50)) { me in
            guard !me.hasHead else { return }
            if me.hasTakenAll { return me.sendHead(.init()) }
            if me.isMarking {
                me.whenMarked = { me in me.send(atMost: .max) { $0.sendHead(.init()) } }
                return
            }
            if me.reader == nil {
                return me.marked { me in me.send(atMost: .max) { $0.sendHead(.init()) } }
            }
            me.whenTaken = { [weak me] in me?.sendHead(.init()) }
        }
    }

    private func answer(_ reply: Fate.Reply) {
        if truth.expectsContinue, attempt.request.body != nil {
            beginSending()
            deliver([.bodyWanted])
        }
        if reply.sendsInterim { deliver([head("HTTP/1.1 103 Early Hints", ["Link: </x>"])]) }
        if reply.isEarly {
            beginSending()
            simulation.requestTakenInPart(by: self)
            // The origin answers and closes: it reads no more of the body.
            later(reply.after) { me in
                if me.attempt.request.body != nil, !me.hasTakenAll { me.deliver([.bodyUnwanted]) }
                me.sendHead(reply)
            }
        } else {
            send(atMost: .max) { me in me.later(reply.after) { $0.sendHead(reply) } }
        }
    }

    // MARK: Its note on disk

    /// Goes on once the note is on disk that the attempt needs. A worker of libcurl blocks there; this one has the
    /// note written by the same `StartRecord` and listens to nobody meanwhile. A direct one can be cancelled, and may find its
    /// connection gone when the note is there: then it needs another, and asks again.
    private func marked(_ then: @escaping (SimulatedAttempt) -> Void) {
        guard let (mark, counts, exchange) = mark else {
            attempt.permit? { _ in }
            return then(self)
        }
        let asksAgain = worker.path == .direct && Int.random(in: 0..<12, using: &generator) == 0
        if !asksAgain { self.mark = nil }
        isMarking = true
        whenMarked = then
        let done = Unchecked { [weak self] (isMarked: Bool) in
            guard let self else { return }
            let isTold = self.truth.isCancelTold
            self.simulation.later(.zero) { [weak self] in self?.markCame(isMarked, isCancelTold: isTold) }
        }
        mark.write(counts, by: exchange) { done.value($0) }
    }

    private func markCame(_ isMarked: Bool, isCancelTold: Bool) {
        isMarking = false
        let then = whenMarked
        whenMarked = nil
        guard !isOver else { return }
        simulation.trace { "\(self.name) is \(isMarked ? "" : "not ")marked" }
        wasNotMarked = !isMarked
        guard isMarked else { return fail(.proxyInternalError, .connecting, .neverSent) }
        isTooLate = isTooLate || isCancelTold
        if mark != nil, !isCancelled, let then {
            simulation.trace { "\(self.name) needs another connection" }
            return later(.milliseconds(10)) { me in me.marked(then) }
        }
        guard !isCancelled else {
            // Word of that came while it was busy with the disk; it may look before or after it sends.
            if Bool.random(using: &generator) { return fail(.proxyInternalResponse, .connecting, .neverSent) }
            beginSending()
            return fail(.proxyInternalResponse, .sending, .maybeApplied)
        }
        then?(self)
    }

    // MARK: The request on its way out

    private func beginSending() {
        guard !attempt.hasBegunSending.load(ordering: .relaxed) else { return }
        attempt.hasBegunSending.store(true, ordering: .releasing)
        // The origin reads the whole request before it answers, or rejects the rest.
        attempt.isBodyHandedOver.store(true, ordering: .relaxed)
        simulation.referee.sent(self)
    }

    private func send(atMost count: Int, then: @escaping (SimulatedAttempt) -> Void) {
        guard !isOver else { return }
        beginSending()
        guard let body = attempt.request.body else {
            hasTakenAll = true
            return then(self)
        }
        takenCountMax = count
        whenTaken = { [weak self] in
            if let self { then(self) }
        }
        let simulation = self.simulation
        // Not from within: the client's loop may be in the middle of giving us the bytes.
        let wake = Unchecked { [weak self] in simulation.later(.zero) { self?.pump() } }
        reader = body.makeReader { wake.value() }
        pump()
    }

    private func pump() {
        guard let reader, !isOver else { return }
        var memory = [UInt8](repeating: 0, count: 1000)
        while true {
            let size = min(takenCountMax - takenCount, memory.count)
            if size == 0 {
                simulation.requestTakenInPart(by: self)
                return taken()
            }
            let result = memory.withUnsafeMutableBytes {
                reader.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[..<size]))
            }
            switch result {
            case .bytes(let count):
                if count == 0 {
                    return simulation.breach("bodiesArriveComplete", "\(name) gets nothing and is told to go on")
                }
                simulation.referee.took(memory[..<count], at: takenCount, of: self)
                takenCount += count
            case .wait: return
            case .end:
                simulation.referee.tookAll(takenCount, of: self)
                simulation.requestTaken(by: self)
                return taken()
            case .brokenOff:
                return fail(.connectionTerminated, .sending, .maybeApplied)
            }
        }
    }

    private func taken() {
        hasTakenAll = true
        let next = whenTaken
        whenTaken = nil
        next?()
    }

    // MARK: Its end

    /// Breaks the connection, unless a response has begun by then.
    func breaks(after wait: Duration) {
        later(wait) { me in
            if !me.hasHead { me.fail(.connectionTerminated, .awaitingResponse, .maybeApplied) }
        }
    }

    func cancelled() {
        guard !isOver, !isCancelled else { return }
        isCancelled = true
        simulation.trace { "\(self.name) is cancelled" }
        simulation.referee.cancelled(self)
        // Now and then a word was on its way already.
        let wait = worker.path == .direct ? .zero : Duration.milliseconds([0, 0, 5, 40].randomElement(using: &generator) ?? 0)
        simulation.later(wait) { [weak self] in
            guard let self, !self.isOver, !self.isMarking || self.worker.path == .direct else { return }
            let hasBegun = self.attempt.hasBegunSending.load(ordering: .relaxed)
            self.fail(
                .proxyInternalResponse, self.hasHead ? .receiving : hasBegun ? .sending : .connecting,
                self.hasHead ? .answered : hasBegun ? .maybeApplied : .neverSent)
        }
    }

    /// The process has died; bytes that reached the upstream stay there.
    func processDied() {
        if !isCancelled { truth.runningCount -= 1 }
        if hasHead { truth.hasBrokenResponse = true }
        if !attempt.hasBegunSending.load(ordering: .relaxed) {
            if isForced { truth.unusedForceCount += 1 }
            // A person asked for it, and it is still to be made.
            if truth.goesAsAsked { truth.isAskedFor = true }
        }
        truth.hasSeenDeath = true
        isOver = true
        reader = nil
        whenTaken = nil
        whenMarked = nil
        goesOnSending = nil
    }

    /// The worker looks when the word arrives: what has begun to send meanwhile goes on.
    func cancelledIfConnecting() {
        let wait = Duration.milliseconds([0, 0, 5].randomElement(using: &generator) ?? 0)
        later(wait) { me in
            guard !me.attempt.hasBegunSending.load(ordering: .relaxed), !me.isCancelled, !me.isMarking else { return }
            me.fail(.proxyInternalResponse, .connecting, .neverSent)
        }
    }

    func resumed() {
        guard attempt.isReceivingPaused.exchange(false, ordering: .acquiringAndReleasing) else {
            return simulation.breach("onlyPausedTransfersAreResumed", name)
        }
        let next = goesOnSending
        goesOnSending = nil
        simulation.later(.zero) { next?() }
    }

    func fail(
        _ kind: FailureKind, _ phase: FailurePhase, _ evidence: Evidence, isNameUnknown: Bool = false
    ) {
        let failure = failure(kind, phase, evidence, isNameUnknown: isNameUnknown)
        fail(endsAtParentProxy && !isCancelled ? failure.ofParentProxy : failure)
    }

    private func failure(_ kind: FailureKind, _ phase: FailurePhase, _ evidence: Evidence, isNameUnknown: Bool = false) -> Failure {
        Failure(
            phase: phase, kind: kind, evidence: evidence, message: "The simulation says \(kind.rawValue).",
            reusedConnection: isReusingConnection, isNameUnknown: isNameUnknown)
    }

    private func fail(_ failure: Failure) {
        let evidence = failure.evidence
        guard !isOver else { return }
        if evidence == .neverSent, attempt.hasBegunSending.load(ordering: .relaxed) {
            simulation.breach("theWorldIsConsistent", name)
        }
        if !hasHead, !isCancelled { truth.download.restWasAskedFor(isEnd: Self.isFinal(failure)) }
        simulation.referee.failed(self, evidence)
        simulation.attemptFailed(self, evidence)
        deliver([.failed(failure)])
    }

    /// True if the failure is lasting.
    private static func isFinal(_ failure: Failure) -> Bool {
        failure.kind == .tlsCertificateError || failure.kind == .parentProxyDenied || failure.isNameUnknown
    }

    func deliver(_ events: [UpstreamEvent]) {
        for event in events where !isOver {
            switch event {
            case .body(let bytes): attempt.bytesOutstanding.add(bytes.readableBytes, ordering: .relaxed)
            case .end, .failed, .dialled:
                isOver = true
                reader?.close()
                reader = nil
                worker.ended(self)
                simulation.referee.ended(self)
            case .bodyWanted, .bodyUnwanted, .interim, .head, .endWithheld, .complete: break
            }
            if case .body = event {} else { simulation.trace { "\(self.name) \(event.word)" } }
            attempt.receiver.receive(event, of: attempt)
        }
        worker.batchEnded()
    }

    func later(_ wait: Duration, _ work: @escaping (SimulatedAttempt) -> Void) {
        simulation.later(wait) { [weak self] in
            if let self, !self.isOver { work(self) }
        }
    }

    func head(_ line: String, _ fields: [String]) -> UpstreamEvent {
        var assembler = ResponseHeadAssembler()
        assembler.reset(isHeadRequest: truth.method == "HEAD")
        for line in [line] + fields + [""] {
            let made = Array((line + "\r\n").utf8).withUnsafeBytes { try? assembler.take(line: $0) }
            if let made = made ?? nil { return made.isInterim ? .interim(made) : .head(made, sendings: 1) }
        }
        preconditionFailure("a malformed head")
    }
}

/// Lets something that stays on the simulation's thread pass where the compiler cannot see that.
struct Unchecked<Value>: @unchecked Sendable {
    var value: Value

    init(_ value: Value) { self.value = value }
}
