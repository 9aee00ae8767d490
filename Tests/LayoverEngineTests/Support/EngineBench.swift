import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Logging
import NIOCore
import NIOPosix
import Retry

/// An engine on a clock that stands still, with everything around it recorded.
final class EngineBench: Sendable {
    static let origin = Origin(scheme: .http, host: "origin.test")

    let clock: ManualClock
    let loop = RecordingLoop()
    let engine: Engine
    private let ids: Watched<SeededGenerator>

    /// - Parameter eventLoop: That of the engine. Default: one of NIO's, whose timers run by the real clock.
    init(
        limits: PendingLimits = .init(), mode: ReachabilityMode = .auto, hasProbe: Bool = false,
        debounce: Duration = .milliseconds(500), store: (any PendingStore)? = nil,
        idSeed: UInt64 = 7, clock: ManualClock = ManualClock(), reroutePortion: Int = Engine.reroutePortion,
        eventLoop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next(),
        logger: Logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    ) async {
        self.clock = clock
        ids = Watched(SeededGenerator(seed: idSeed))
        engine = Engine(
            eventLoop: eventLoop, clock: clock, limits: limits,
            reachability: Reachability(
                mode: mode, debounce: debounce, hasProbe: hasProbe, now: clock.now()), store: store,
            generator: SeededGenerator(seed: 1), reroutePortion: reroutePortion, logger: logger)
        await engine.register(loop)
    }

    /// Until the engine has worked on what was posted before.
    func settle() async { _ = await engine.counts() }

    func advance(by duration: Duration) async {
        clock.advance(by: duration)
        await engine.timerFired()
    }

    func exchange() -> RecordingExchange {
        let id = ids.value
        var generator = id
        let made = EntryID(using: &generator)
        let after = generator
        ids.update { $0 = after }
        return RecordingExchange(id: made)
    }

    /// A policy whose delay has no jitter.
    static func policy(every: Duration = .seconds(5), _ change: (inout Policy) -> Void = { _ in }) -> Policy {
        var policy = Policy(name: "test")
        policy.delay = DelaySchedule(.constant(every), jitter: .none)
        change(&policy)
        return policy
    }

    static let refused = Failure(
        phase: .connecting, kind: .connectionRefused, evidence: .neverSent, message: "Refused.")

    /// Parks an exchange; with a failure its first attempt failed, without one its loop found the gate shut.
    func park(
        _ exchange: RecordingExchange, failure: Failure? = EngineBench.refused, to origin: Origin = EngineBench.origin,
        policy: Policy = EngineBench.policy(), delay: Duration = .seconds(5), lane: String? = nil
    ) async {
        var new = NewEntry(
            id: exchange.id, method: "GET", url: "\(origin)/x", origin: origin, policy: policy,
            client: .init(address: "127.0.0.1"), createdAt: clock.now(),
            attemptCount: failure == nil ? 0 : 1, failure: failure,
            parking: .init(delay: failure == nil ? .zero : delay, shutsGate: failure?.shutsGate ?? false))
        new.lane = lane
        engine.post(ParkRequested(new), from: exchange)
        await settle()
    }

    func fail(_ exchange: RecordingExchange, _ failure: Failure = EngineBench.refused, attempts: Int = 2) async {
        engine.post(
            .attemptFailed(
                AttemptFailed(exchange.id, failure, .init(delay: .seconds(5), shutsGate: failure.shutsGate), Self.tally(attempts))))
        await settle()
    }

    /// What is said of an attempt that the end of its entry has cut off.
    func cutOff(_ exchange: RecordingExchange, attempts: Int = 2) async {
        engine.post(.evidence(exchange.id, EngineBench.refused, Self.tally(attempts)))
        await settle()
    }

    func answer(_ exchange: RecordingExchange, attempts: Int = 2) async {
        engine.post(.answered(AttemptAnswered(exchange.id, Self.tally(attempts))))
        await settle()
    }

    func end(_ exchange: RecordingExchange, as state: EntryState = .delivered) async {
        engine.post(.ended(ExchangeEnded(exchange.id, as: state, Self.tally(2))))
        await settle()
    }

    private static func tally(_ count: Int) -> AttemptTally {
        AttemptTally(AttemptCounts(all: count, automatic: count))
    }

    func state(_ exchange: RecordingExchange) async -> EntryState? { await engine.entry(exchange.id)?.state }
}
