import LayoverTestSupport
import Retry
import Testing

struct DelayScheduleTests {
    static let doubling = DelaySchedule.Pattern.exponential(
        initial: .milliseconds(250), multiplier: 2, max: .seconds(30))

    private static let patterns: [(DelaySchedule.Pattern, [Duration])] = [
        (.immediate, [.zero, .zero, .zero]),
        (.constant(.seconds(3)), [.seconds(3), .seconds(3), .seconds(3)]),
        (doubling, [250, 500, 1000, 2000, 4000, 8000, 16000, 30000, 30000].map { .milliseconds($0) }),
        (
            .exponential(initial: .seconds(1), multiplier: 1.5, max: .seconds(2)),
            [1000, 1500, 2000].map { .milliseconds($0) }
        ),
        (
            .list([.seconds(1), .seconds(5), .seconds(30)]),
            [.seconds(1), .seconds(5), .seconds(30), .seconds(30)]
        ),
        (.list([]), [.zero, .zero]),
    ]

    @Test(arguments: patterns)
    func delaysFollowThePattern(pattern: DelaySchedule.Pattern, expected: [Duration]) {
        var generator = SeededGenerator(seed: 1)
        let schedule = DelaySchedule(pattern)
        let delays = (1...expected.count).map { schedule.delay(afterAttempt: $0, using: &generator) }
        #expect(delays == expected)
    }

    /// A number that grows for years, a multiplier nobody meant, bounds the wrong way round.
    private static let extremes: [(DelaySchedule.Pattern, Duration)] = [
        (.exponential(initial: .seconds(1), multiplier: 2, max: .seconds(60)), .seconds(60)),
        (.exponential(initial: .seconds(1), multiplier: 1e300, max: .seconds(60)), .seconds(60)),
        (.exponential(initial: .seconds(1), multiplier: .infinity, max: .seconds(60)), .seconds(60)),
        (.exponential(initial: .seconds(1), multiplier: 1.000_000_1, max: .seconds(60)), .seconds(60)),
        (.exponential(initial: .seconds(1), multiplier: 2, max: .seconds(Int64.max)), .seconds(Int64.max)),
        (.exponential(initial: .seconds(1), multiplier: .nan, max: .seconds(60)), .seconds(1)),
        (.exponential(initial: .seconds(1), multiplier: 1, max: .seconds(60)), .seconds(1)),
        (.exponential(initial: .seconds(1), multiplier: 0.5, max: .seconds(60)), .seconds(1)),
        (.exponential(initial: .seconds(1), multiplier: -2, max: .seconds(60)), .seconds(1)),
        (.exponential(initial: .seconds(90), multiplier: 2, max: .seconds(60)), .seconds(60)),
        (.exponential(initial: .zero, multiplier: 2, max: .seconds(60)), .zero),
        (.exponential(initial: .seconds(-1), multiplier: 2, max: .seconds(60)), .zero),
        (.exponential(initial: .seconds(1), multiplier: 2, max: .seconds(-60)), .zero),
        (.constant(.seconds(-1)), .zero),
        (.list([.seconds(-1)]), .zero),
    ]

    @Test(arguments: extremes)
    func noNumberOfAttemptsOverflows(pattern: DelaySchedule.Pattern, expected: Duration) {
        var generator = SeededGenerator(seed: 1)
        #expect(DelaySchedule(pattern).delay(afterAttempt: .max, using: &generator) == expected)
        for attempt in 1...200 {
            let delay = DelaySchedule(pattern, jitter: .full).delay(afterAttempt: attempt, using: &generator)
            #expect(delay >= .zero)
        }
    }

    @Test(arguments: [0, -1, Int.min])
    func numbersBelowOneCountAsTheFirstAttempt(attempt: Int) {
        var generator = SeededGenerator(seed: 1)
        for pattern in [
            Self.doubling, .list([.milliseconds(250), .seconds(9)]), .constant(.milliseconds(250)),
        ] {
            let schedule = DelaySchedule(pattern)
            #expect(schedule.delay(afterAttempt: attempt, using: &generator) == .milliseconds(250))
            #expect(schedule.unjittered(afterAttempt: attempt) == .milliseconds(250))
        }
    }

    @Test(arguments: [(DelaySchedule.Jitter.full, Duration.zero), (.equal, .seconds(5))])
    func jitterKeepsToItsRangeAndUsesAllOfIt(jitter: DelaySchedule.Jitter, least: Duration) {
        var generator = SeededGenerator(seed: 7)
        let schedule = DelaySchedule(.constant(.seconds(10)), jitter: jitter)
        let delays = (1...2000).map { schedule.delay(afterAttempt: $0, using: &generator) }
        #expect(delays.allSatisfy { $0 >= least && $0 <= .seconds(10) })
        let width = Duration.seconds(10) - least
        #expect(delays.contains { $0 < least + width / 20 })
        #expect(delays.contains { $0 > .seconds(10) - width / 20 })
        let mean = delays.reduce(.zero, +) / delays.count
        #expect(mean > least + width * 0.45 && mean < least + width * 0.55)
    }

    @Test(arguments: DelaySchedule.Jitter.allCases)
    func equalSeedsGiveEqualDelays(jitter: DelaySchedule.Jitter) {
        let schedule = DelaySchedule(Self.doubling, jitter: jitter)
        var (one, other) = (SeededGenerator(seed: 42), SeededGenerator(seed: 42))
        for attempt in 1...50 {
            let first = schedule.delay(afterAttempt: attempt, using: &one)
            #expect(first == schedule.delay(afterAttempt: attempt, using: &other))
        }
    }

    @Test func withoutJitterNoRandomNumberIsDrawn() {
        var generator = SeededGenerator(seed: 3)
        _ = DelaySchedule(Self.doubling).delay(afterAttempt: 4, using: &generator)
        var untouched = SeededGenerator(seed: 3)
        #expect(generator.next() == untouched.next())
    }
}

/// Schedules as they are written where one is expected.
struct SchedulePatternTests {
    @Test(arguments: [
        (DelaySchedule.immediate, DelaySchedule(.immediate)),
        (.constant(.seconds(3)), DelaySchedule(.constant(.seconds(3)))),
        (.constant(.seconds(3), jitter: .equal), DelaySchedule(.constant(.seconds(3)), jitter: .equal)),
        (.exponential(initial: .seconds(1)), DelaySchedule(.exponential(initial: .seconds(1), multiplier: 2, max: .seconds(30)))),
        (
            .exponential(initial: .seconds(1), multiplier: 3, max: .seconds(9), jitter: .full),
            DelaySchedule(.exponential(initial: .seconds(1), multiplier: 3, max: .seconds(9)), jitter: .full)
        ),
        (.list([.seconds(1), .seconds(5)], jitter: .full), DelaySchedule(.list([.seconds(1), .seconds(5)]), jitter: .full)),
    ])
    func shortFormIsTheSameSchedule(short: DelaySchedule, long: DelaySchedule) {
        #expect(short == long)
    }
}
