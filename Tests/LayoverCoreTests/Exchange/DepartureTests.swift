import LayoverTestSupport
import Testing

@testable import LayoverCore

/// What becomes of an exchange whose client is gone. Contract: section 2, "When a client is gone".
struct DepartureTests {
    private func machine(_ phase: ExchangePhase, _ change: (inout Policy) -> Void = { _ in }) -> ExchangeMachine {
        ExchangeMachine(for: .client, AttemptRules(policy: .fixture(change)), phase: phase)
    }

    private func departure(_ change: (inout ExchangeMachine.Departure) -> Void = { _ in }) -> ExchangeMachine.Departure {
        var departure = ExchangeMachine.Departure(purpose: .transfer, method: "POST", isComplete: true, hasBegunSending: true)
        change(&departure)
        return departure
    }

    @Test(arguments: ["POST", "PUT", "PATCH", "DELETE", "CUSTOM"])
    func unsafeRequestThatIsSentGoesOnUntilItsHead(method: String) {
        var machine = machine(.attempting)
        #expect(machine.clientLeft(departure { $0.method = method }) == .unattended(.seconds(300)))
        #expect(machine.phase == .unattended)
        #expect(machine.clientLeft(departure()) == .none, "it is told twice")
    }

    @Test(arguments: ["GET", "HEAD", "OPTIONS", "TRACE", "QUERY"])
    func safeRequestEndsAtOnce(method: String) {
        var machine = machine(.attempting)
        #expect(machine.clientLeft(departure { $0.method = method }) == .end)
    }

    @Test func requestThatCannotHaveBeenAppliedEndsAtOnce() {
        for change: (inout ExchangeMachine.Departure) -> Void in [
            { $0.isComplete = false }, { $0.hasBegunSending = false }, { $0.purpose = .dial }, { $0.purpose = .upgrade },
        ] {
            var machine = machine(.attempting)
            #expect(machine.clientLeft(departure(change)) == .end)
        }
    }

    @Test func policyLimitsItsTime() {
        var short = machine(.attempting) { $0.unattendedMax = .seconds(10) }
        #expect(short.clientLeft(departure()) == .unattended(.seconds(10)))
        var none = machine(.attempting) { $0.unattendedMax = .zero }
        #expect(none.clientLeft(departure()) == .end)
        var keyed = machine(.attempting) { $0.unattendedMax = .zero }
        #expect(keyed.clientLeft(departure { $0.mayBeAwaited = true }) == .unattended(.zero), "others are looked for first")
        #expect(Policy.ai.unattendedMax == .zero && Policy.standard.unattendedMax == .seconds(300))
    }

    /// A success may have been reported for it, so it is not cut at once, whatever the policy says.
    @Test func restOfAnAnsweredRequestHasALimit() {
        for (configured, used): (Duration, Duration) in [(.seconds(10), .seconds(10)), (.zero, .seconds(300))] {
            var machine = machine(.delivering) { $0.unattendedMax = configured }
            #expect(machine.clientLeftWithItsResponse() == used)
            #expect(machine.phase == .unattended)
        }
    }

    /// After the final head the outcome is known, whatever the method.
    @Test(arguments: ["GET", "POST", "PUT"])
    func responseEndsUnlessOthersShareIt(method: String) {
        var alone = machine(.delivering)
        #expect(alone.clientLeft(departure { $0.method = method }) == .end)
        var shared = machine(.delivering)
        let departure = departure {
            $0.method = method
            $0.mayBeShared = true
        }
        #expect(shared.clientLeft(departure) == .share)
        #expect(shared.phase == .unattended)
    }

    @Test func whatWaitsEnds() {
        let phases: [ExchangePhase] = [
            .collecting(for: .attempt), .collecting(for: .ticket), .searching(.cache), .searching(.duplicateKey), .accepting, .preflight,
            .offering, .parked,
        ]
        for phase in phases {
            var machine = machine(phase)
            #expect(machine.clientLeft(departure()) == .end, "\(phase)")
            #expect(machine.phase == phase, "\(phase)")
        }
        var ended = machine(.ended)
        #expect(ended.clientLeft(departure()) == .none)
    }

    @Test(arguments: [true, false])
    func failureWithoutAClientIsRecordedAndNothingFollows(isAborted: Bool) {
        var machine = machine(.collecting(for: .attempt))
        let now = Timestamp.at(.seconds(1))
        _ = machine.startAttempt(.arrival, at: now)
        _ = machine.clientLeft(departure())
        machine.rules.isAborted = isAborted
        let failure = machine.unattendedFailed(.reset, at: now)
        #expect(failure.evidence == .maybeApplied && machine.rules.counts.mayHaveBeenApplied)
        #expect(failure.kind == (isAborted ? .proxyInternalResponse : .connectionTerminated))
        let records = machine.takeRecords()
        #expect(records.count == 1 && records[0].failure == failure && records[0].verdict == nil)
    }
}
