import LayoverCore
import LayoverEngine
import NIOCore

/// Hands out the worker that the simulation has made before.
struct SimulatedUpstream: Upstream {
    let worker: SimulatedWorker

    var blocksForPermits: Bool { worker.path == .libcurl }

    func makeWorker(
        for eventLoop: any EventLoop, batchEnded: @escaping @Sendable () -> Void
    ) throws -> any UpstreamWorker {
        worker.batchEnded = batchEnded
        return worker
    }
}

/// The upstream worker of one loop: every attempt meets the fate that the mood of its origin has for it.
///
/// `@unchecked Sendable`: a simulation runs on one thread from its beginning to its end.
final class SimulatedWorker: UpstreamWorker, @unchecked Sendable {
    unowned let simulation: Simulation
    /// Which worker it stands for: one blocks while a permit is awaited, the other hears of a cancel meanwhile.
    var path: AttemptPath { simulation.seed.isMultiple(of: 2) ? .direct : .libcurl }
    var batchEnded: @Sendable () -> Void = {}
    private(set) var running: [ObjectIdentifier: SimulatedAttempt] = [:]
    private(set) var isShutDown = false
    /// True if the process has died: its calls have no effect then.
    private(set) var isDead = false

    init(simulation: Simulation) { self.simulation = simulation }

    func start(_ attempt: UpstreamAttempt) {
        if isDead { return }
        guard let truth = simulation.truth(of: attempt) else {
            return simulation.breach("everyAttemptHasARequest", "\(attempt.request.target)")
        }
        if isShutDown { simulation.breach("nothingStartsAfterTheEnd", "r\(truth.number)") }
        if (attempt.request.body == nil) != (attempt.request.framing == .none) {
            simulation.breach("bodyAndFramingAgree", "r\(truth.number)")
        }
        attempt.path = path
        let simulated = SimulatedAttempt(attempt, truth: truth, worker: self)
        running[ObjectIdentifier(attempt)] = simulated
        simulation.referee.started(simulated)
        simulation.attemptBegan(simulated)
        simulated.begin()
    }

    func cancel(_ attempt: UpstreamAttempt) {
        if isDead { return }
        guard let simulated = running[ObjectIdentifier(attempt)] else {
            return simulation.breach("onlyRunningAttemptsAreCancelled", attempt.request.target)
        }
        simulated.cancelled()
    }

    func cancelIfConnecting(_ attempt: UpstreamAttempt) {
        if isDead { return }
        guard let simulated = running[ObjectIdentifier(attempt)] else {
            return simulation.breach("onlyRunningAttemptsAreCancelled", attempt.request.target)
        }
        simulated.cancelledIfConnecting()
    }

    func resumeReceiving(_ attempt: UpstreamAttempt) {
        running[ObjectIdentifier(attempt)]?.resumed()
    }

    func networkChanged() {}

    func shutDown() {
        isShutDown = true
        for attempt in inOrder { attempt.cancelled() }
    }

    func die() {
        isDead = true
        for attempt in inOrder { attempt.processDied() }
        running = [:]
    }

    func ended(_ attempt: SimulatedAttempt) { running[ObjectIdentifier(attempt.attempt)] = nil }

    /// The oldest first.
    var inOrder: [SimulatedAttempt] { running.values.sorted { $0.serial < $1.serial } }
}
