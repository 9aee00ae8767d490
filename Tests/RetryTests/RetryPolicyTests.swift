import LayoverTestSupport
import Retry
import Testing

struct RetryPolicyTests {
    private static func verdict(
        _ policy: RetryPolicy, on error: any Error = Trouble.offline, attempt: Int = 1,
        elapsed: Duration = .zero
    ) -> RetryVerdict {
        var generator = SeededGenerator(seed: 1)
        return policy.verdict(on: error, afterAttempt: attempt, elapsed: elapsed, using: &generator)
    }

    private static func constant(_ seconds: Int, max: Int? = nil, deadline: Duration? = nil) -> RetryPolicy {
        RetryPolicy(
            attemptCountMax: max, schedule: .constant(.seconds(seconds)), deadline: deadline)
    }

    private static let limits: [(Int?, Int, RetryVerdict)] = [
        (3, 1, .retry(after: .seconds(2))),
        (3, 2, .retry(after: .seconds(2))),
        (3, 3, .giveUp(.attemptsExhausted)),
        (3, 4, .giveUp(.attemptsExhausted)),
        (1, 1, .giveUp(.attemptsExhausted)),
        (0, 1, .giveUp(.attemptsExhausted)),
        (nil, 1, .retry(after: .seconds(2))),
        (nil, .max, .retry(after: .seconds(2))),
    ]

    @Test(arguments: limits)
    func attemptsAreCountedWithTheFirst(max: Int?, attempt: Int, expected: RetryVerdict) {
        #expect(Self.verdict(Self.constant(2, max: max), attempt: attempt) == expected)
    }

    private static let deadlines: [(Duration, RetryVerdict)] = [
        (.zero, .retry(after: .seconds(4))),
        (.seconds(5), .retry(after: .seconds(4))),
        (.seconds(6) - .nanoseconds(1), .retry(after: .seconds(4))),
        (.seconds(6), .retryIfWoken(within: .seconds(4))),
        (.seconds(9), .retryIfWoken(within: .seconds(1))),
        (.seconds(10), .giveUp(.deadlineReached)),
        (.seconds(11), .giveUp(.deadlineReached)),
    ]

    @Test(arguments: deadlines)
    func noAttemptBeginsAtOrAfterTheDeadline(elapsed: Duration, expected: RetryVerdict) {
        #expect(Self.verdict(Self.constant(4, deadline: .seconds(10)), elapsed: elapsed) == expected)
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func aDeadlineThatIsOverAllowsNoRetry(deadline: Duration) {
        #expect(Self.verdict(Self.constant(0, deadline: deadline)) == .giveUp(.deadlineReached))
    }

    @Test func thePredicateComesBeforeTheLimits() {
        var policy = Self.constant(1, max: 1, deadline: .zero)
        policy.isWorthRetrying = { _ in false }
        #expect(Self.verdict(policy) == .giveUp(.notWorthRetrying))
    }

    private struct Other: Error {}

    @Test func errorsOfOtherTypesAndCancellationAreNotRetried() {
        let policy = Self.constant(1).retrying(Trouble.self) { $0 != .refused }
        #expect(Self.verdict(policy, on: Trouble.offline) == .retry(after: .seconds(1)))
        #expect(Self.verdict(policy, on: Trouble.refused) == .giveUp(.notWorthRetrying))
        #expect(Self.verdict(policy, on: Other()) == .giveUp(.notWorthRetrying))
        #expect(Self.verdict(Self.constant(1), on: CancellationError()) == .giveUp(.notWorthRetrying))
        #expect(
            Self.verdict(Self.constant(1).retrying(Other.self), on: Other()) == .retry(after: .seconds(1)))
    }

    @Test func waitsAreCutToAHundredYears() {
        let century = Duration.seconds(100 * 365 * 24 * 3600)
        let endless = RetryPolicy(
            attemptCountMax: nil, schedule: .custom { _ in Duration(attoseconds: .max) })
        #expect(Self.verdict(endless) == .retry(after: century))
        var limited = endless
        limited.deadline = .seconds(Int64.max)
        #expect(Self.verdict(limited) == .retryIfWoken(within: century))
    }

    @Test func defaultsAreThreeAttemptsWithTheStandardSchedule() {
        let policy = RetryPolicy()
        #expect(policy.attemptCountMax == 3)
        #expect(policy.schedule == .standard)
        #expect(policy.deadline == nil)
        #expect(policy.budget == nil)
        #expect(policy.isWorthRetrying(Trouble.offline))
    }
}
