import Retry

@testable import LayoverCore

extension Failure {
    static func fixture(
        _ kind: FailureKind = .connectionRefused, phase: FailurePhase = .connecting,
        evidence: Evidence = .neverSent, reusedConnection: Bool = false
    ) -> Failure {
        Failure(
            phase: phase, kind: kind, evidence: evidence, message: "It went wrong.",
            reusedConnection: reusedConnection)
    }

    /// The origin cannot be reached.
    static let refused = Failure.fixture()
    /// The origin took the request and then said nothing more.
    static let reset = Failure.fixture(
        .connectionTerminated, phase: .awaitingResponse, evidence: .maybeApplied)
}

extension Policy {
    /// The standard policy but for the change. Its delays are plain numbers: 1 s, 2 s, 4 s … 30 s.
    static func fixture(_ change: (inout Policy) -> Void = { _ in }) -> Policy {
        var policy = Policy(name: "test")
        policy.delay = DelaySchedule(
            .exponential(initial: .seconds(1), multiplier: 2, max: .seconds(30)))
        change(&policy)
        return policy
    }

    /// A change to so many automatic attempts, and to what follows the last one.
    static func exhausted(after count: Int, _ rule: ExhaustedRule) -> (inout Policy) -> Void {
        { ($0.automaticAttemptsMax, $0.onExhausted) = (count, rule) }
    }
}

extension Timestamp {
    static func at(_ duration: Duration) -> Timestamp { Timestamp(nanoseconds: 0) + duration }
}
