import LayoverCore
package import NIOCore

/// Plays outages between the proxy and the real upstream: every attempt of every worker passes here.
///
/// The proxy gets events as from any attempt and does not know that they were played.
package struct RehearsedUpstream: Upstream {
    private let real: any Upstream
    private let board: RehearsalBoard
    private let clock: any EngineClock

    package init(_ real: any Upstream, board: RehearsalBoard, clock: any EngineClock) {
        self.real = real
        self.board = board
        self.clock = clock
    }

    package var blocksForPermits: Bool { real.blocksForPermits }

    package func makeWorker(
        for eventLoop: any EventLoop, batchEnded: @escaping @Sendable () -> Void
    ) throws -> any UpstreamWorker {
        RehearsedWorker(
            try real.makeWorker(for: eventLoop, batchEnded: batchEnded), board: board, clock: clock, eventLoop: eventLoop,
            batchEnded: batchEnded)
    }
}

/// The worker of one loop: makes attempts by the real one, and plays those that meet a rehearsal.
///
/// `@unchecked Sendable`: confined to its loop, like the calls it gets.
final class RehearsedWorker: UpstreamWorker, @unchecked Sendable {
    /// How often attempts that hang or trickle look at the clock, and at whether their rehearsal was stopped. Default: 100 ms.
    static let tick: TimeAmount = .milliseconds(100)

    let real: any UpstreamWorker
    private let board: RehearsalBoard
    private let clock: any EngineClock
    private let eventLoop: any EventLoop
    private let batchEnded: @Sendable () -> Void
    /// By attempt. Each holds its attempt, so that no other gets the same identifier meanwhile.
    private var playing: [ObjectIdentifier: any PlayedAttempt] = [:]
    private var isTicking = false
    private var isShutDown = false

    init(
        _ real: any UpstreamWorker, board: RehearsalBoard, clock: any EngineClock, eventLoop: any EventLoop,
        batchEnded: @escaping @Sendable () -> Void
    ) {
        self.real = real
        self.board = board
        self.clock = clock
        self.eventLoop = eventLoop
        self.batchEnded = batchEnded
    }

    var now: Timestamp { clock.now() }

    func isOn(_ rehearsal: Rehearsal) -> Bool { board.isOn(rehearsal, now: now) }

    var connectionCounts: [Origin: ConnectionCount] { real.connectionCounts }

    func ping(_ reply: @escaping @Sendable () -> Void) { real.ping(reply) }

    // MARK: Attempts

    func start(_ attempt: UpstreamAttempt) {
        guard !board.isEmpty, !isShutDown, let rehearsal = board.applying(to: attempt.request.origin, now: now) else {
            return real.start(attempt)
        }
        switch rehearsal.play(attempt.request.purpose, to: attempt.request.origin) {
        case .none: real.start(attempt)
        case .fail(let failure): play(attempt, MadeOutcome([.failed(failure)], of: attempt, on: self))
        case .answer(let response):
            if attempt.wantsConnectionFacts { attempt.connectionFacts = .made }
            play(attempt, MadeOutcome(response.events(toHead: attempt.request.method == "HEAD"), of: attempt, on: self))
        case .hang: play(attempt, HungAttempt(attempt, rehearsal, on: self))
        case .cut(let count):
            play(attempt, CutResponse(of: attempt, after: count, rehearsal, on: self))
            real.start(attempt)
        case .slow(let rate):
            play(attempt, SlowResponse(of: attempt, bytesPerSecond: rate, rehearsal, on: self))
            real.start(attempt)
        }
    }

    private func play(_ attempt: UpstreamAttempt, _ played: any PlayedAttempt) {
        playing[ObjectIdentifier(attempt)] = played
        if played.needsTime { startTicking() }
        guard played is MadeOutcome else { return }
        deliverLater(of: attempt)
    }

    /// The attempt's last event is about to be delivered, or the real worker makes the attempt from now on.
    func ended(_ attempt: UpstreamAttempt) { playing[ObjectIdentifier(attempt)] = nil }

    func cancel(_ attempt: UpstreamAttempt) {
        if let played = played(attempt) { played.cancel() } else { real.cancel(attempt) }
    }

    func cancelIfConnecting(_ attempt: UpstreamAttempt) {
        if let played = played(attempt) { played.cancelIfConnecting() } else { real.cancelIfConnecting(attempt) }
    }

    func resumeReceiving(_ attempt: UpstreamAttempt) {
        if let played = played(attempt) { played.resumeReceiving() } else { real.resumeReceiving(attempt) }
    }

    private func played(_ attempt: UpstreamAttempt) -> (any PlayedAttempt)? {
        playing.isEmpty ? nil : playing[ObjectIdentifier(attempt)]
    }

    // MARK: Events that are made here

    /// Delivers what is made here once the current turn of the loop is over: whoever starts or cancels an attempt does not expect
    /// its events within the call.
    func deliverLater(of attempt: UpstreamAttempt) {
        eventLoop.execute {
            guard let made = self.played(attempt) as? MadeOutcome else { return }
            made.deliver()
            self.batchEnded()
        }
    }

    /// Ends the attempt with this failure, whatever was played before.
    func end(_ attempt: UpstreamAttempt, _ failure: Failure) {
        playing[ObjectIdentifier(attempt)] = MadeOutcome([.failed(failure)], of: attempt, on: self)
        deliverLater(of: attempt)
    }

    // MARK: Time

    private func startTicking() {
        guard !isTicking else { return }
        isTicking = true
        eventLoop.scheduleTask(in: Self.tick) { self.ticked() }
    }

    private func ticked() {
        isTicking = false
        let now = now
        for played in Array(playing.values) where played.needsTime { played.timePassed(to: now) }
        batchEnded()
        if playing.values.contains(where: \.needsTime) { startTicking() }
    }

    // MARK: The whole worker

    func networkChanged() { real.networkChanged() }

    func clientLeft(_ client: Int) { real.clientLeft(client) }

    func shutDown() {
        isShutDown = true
        real.shutDown()
        for played in Array(playing.values) { played.workerShutsDown() }
    }

    func waitUntilEnded() { real.waitUntilEnded() }
}
