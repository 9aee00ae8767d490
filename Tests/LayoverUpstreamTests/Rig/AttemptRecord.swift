import Glibc
import LayoverCore
import LayoverEngine
import NIOCore
import Synchronization
import Testing

/// Takes the events of one attempt and lets a test wait for them, never for longer than 20 seconds.
final class AttemptRecord: UpstreamReceiver, Sendable {
    struct Facts: Sendable {
        var events: [String] = []
        var interims: [Int] = []
        var status: Int?
        var head = ""
        var sendings = 0
        var body: [UInt8] = []
        var bodyEventCount = 0
        var trailers = ""
        var failure: Failure?
        var dialled: CInt?
        /// Must be 1 in the end.
        var terminalCount = 0
        var isTimedOut = false

        var bodyText: String { String(decoding: body, as: UTF8.self) }
    }

    private struct Waiter {
        var isMet: @Sendable (Facts) -> Bool
        var continuation: CheckedContinuation<Facts, Never>
    }

    private struct State {
        var facts = Facts()
        var waiters: [Int: Waiter] = [:]
        var waiterCount = 0
        var attempt: UpstreamAttempt?
    }

    private let state = Mutex(State())
    private let worker: any UpstreamWorker
    private let eventLoop: any EventLoop
    /// True if body bytes count as passed on at once, as with a client that reads.
    private let passesOn: Bool

    init(worker: any UpstreamWorker, eventLoop: any EventLoop, passesOn: Bool) {
        self.worker = worker
        self.eventLoop = eventLoop
        self.passesOn = passesOn
    }

    func adopt(_ attempt: UpstreamAttempt) { state.withLock { $0.attempt = attempt } }

    var facts: Facts { state.withLock { $0.facts } }
    var attempt: UpstreamAttempt? { state.withLock { $0.attempt } }

    // MARK: What a test does

    func cancel() { if let attempt { eventLoop.execute { [worker] in worker.cancel(attempt) } } }

    func cancelIfConnecting() {
        if let attempt { eventLoop.execute { [worker] in worker.cancelIfConnecting(attempt) } }
    }

    /// Takes away what is outstanding, as a slow client does from time to time.
    func passOn() {
        if let attempt { eventLoop.execute { [self] in passOn(attempt) } }
    }

    /// Takes away what is outstanding, again and again, until the attempt has ended.
    func passOnToTheEnd() async {
        guard let attempt else { return }
        while true {
            passOn()
            let facts = await waitFor { $0.terminalCount > 0 || attempt.isReceivingPaused.load(ordering: .acquiring) }
            if facts.terminalCount > 0 || facts.isTimedOut { return }
        }
    }

    /// Ends the hold of the two on each other.
    func letGo() { state.withLock { $0.attempt = nil } }

    func ended() async -> Facts { await waitFor { $0.terminalCount > 0 } }

    func waitFor(_ isMet: @escaping @Sendable (Facts) -> Bool) async -> Facts {
        await withCheckedContinuation { continuation in
            let number = state.withLock { state -> Int? in
                guard !isMet(state.facts) else { return nil }
                state.waiterCount += 1
                state.waiters[state.waiterCount] = Waiter(isMet: isMet, continuation: continuation)
                return state.waiterCount
            }
            guard let number else { return continuation.resume(returning: facts) }
            eventLoop.scheduleTask(in: .seconds(20)) { [self] in giveUp(number) }
        }
    }

    private func giveUp(_ number: Int) {
        let (waiter, facts) = state.withLock { state in
            state.facts.isTimedOut = state.waiters[number] != nil
            return (state.waiters.removeValue(forKey: number), state.facts)
        }
        waiter?.continuation.resume(returning: facts)
    }

    // MARK: UpstreamReceiver

    func receive(_ event: UpstreamEvent, of attempt: UpstreamAttempt) {
        let (met, facts) = state.withLock { state in
            Self.note(event, in: &state.facts)
            let met = state.waiters.filter { $0.value.isMet(state.facts) }
            for number in met.keys { state.waiters[number] = nil }
            return (met.values.map(\.continuation), state.facts)
        }
        if passesOn { passOn(attempt) }
        for continuation in met { continuation.resume(returning: facts) }
    }

    private func passOn(_ attempt: UpstreamAttempt) {
        let count = attempt.bytesOutstanding.load(ordering: .relaxed)
        attempt.bytesOutstanding.subtract(count, ordering: .relaxed)
        if attempt.isReceivingPaused.load(ordering: .acquiring) { worker.resumeReceiving(attempt) }
    }

    private static func note(_ event: UpstreamEvent, in facts: inout Facts) {
        switch event {
        case .bodyWanted: facts.events.append("bodyWanted")
        case .bodyUnwanted: facts.events.append("bodyUnwanted")
        case .endWithheld: facts.events.append("endWithheld")
        case .complete(let trailers):
            facts.events.append("complete")
            facts.trailers = trailers.map { String(buffer: $0) } ?? ""
        case .interim(let head):
            facts.events.append("interim")
            facts.interims.append(head.status)
        case .head(let head, let sendings):
            facts.events.append("head")
            facts.status = head.status
            facts.head = String(buffer: head.bytes)
            facts.sendings = sendings
        case .body(let bytes):
            if facts.events.last != "body" { facts.events.append("body") }
            facts.bodyEventCount += 1
            facts.body.append(contentsOf: bytes.readableBytesView)
        case .end(let trailers):
            if !facts.events.contains("complete") { facts.trailers = trailers.map { String(buffer: $0) } ?? "" }
            facts.events.append("end")
            facts.terminalCount += 1
        case .failed(let failure):
            facts.events.append("failed")
            facts.failure = failure
            facts.terminalCount += 1
        case .dialled(let socket):
            facts.events.append("dialled")
            facts.dialled = socket.descriptor
            facts.terminalCount += 1
        }
    }
}

extension Failure? {
    /// Checks that there is a failure, and those of its properties that are given.
    func expect(
        kind: FailureKind? = nil, phase: FailurePhase? = nil, evidence: Evidence? = nil, shutsGate: Bool? = nil,
        at location: SourceLocation = #_sourceLocation
    ) {
        guard let self else {
            Issue.record("There is no failure.", sourceLocation: location)
            return
        }
        if let kind { #expect(self.kind == kind, "\(self)", sourceLocation: location) }
        if let phase { #expect(self.phase == phase, "\(self)", sourceLocation: location) }
        if let evidence { #expect(self.evidence == evidence, "\(self)", sourceLocation: location) }
        if let shutsGate { #expect(self.shutsGate == shutsGate, "\(self)", sourceLocation: location) }
    }
}
