import LayoverTestSupport
import Retry
import Testing

struct DelaySequenceTests {
    static let doubling = DelaySchedule.Pattern.exponential(
        initial: .milliseconds(250), multiplier: 2, max: .seconds(1))

    @Test func unjitteredDelaysFollowThePatternWithoutEnd() {
        let schedule = DelaySchedule(Self.doubling, jitter: .full)
        #expect(
            Array(schedule.unjitteredDelays.prefix(5))
                == [.milliseconds(250), .milliseconds(500), .seconds(1), .seconds(1), .seconds(1)])
        #expect(schedule.unjitteredDelays.prefix(10_000).reduce(0) { count, _ in count + 1 } == 10_000)
    }

    @Test(arguments: DelaySchedule.Jitter.allCases)
    func theSequenceGivesTheDelaysOfTheAttempts(jitter: DelaySchedule.Jitter) {
        let schedule = DelaySchedule(Self.doubling, jitter: jitter)
        var generator = SeededGenerator(seed: 11)
        let expected = (1...50).map { schedule.delay(afterAttempt: $0, using: &generator) }
        let delays = schedule.delays(using: SeededGenerator(seed: 11))
        #expect(Array(delays.prefix(50)) == expected)
        #expect(Array(delays.prefix(50)) == expected, "iterating again gives the same again")
    }

    @Test func customDelaysComeFromTheFunction() {
        let schedule = DelaySchedule.custom { .seconds($0 * $0 - 2) }
        #expect(
            Array(schedule.unjitteredDelays.prefix(4)) == [.zero, .seconds(2), .seconds(7), .seconds(14)])
        #expect(schedule.unjittered(afterAttempt: -4) == .zero)
    }

    @Test func customDelaysAreJittered() {
        let schedule = DelaySchedule.custom(jitter: .equal) { _ in .seconds(10) }
        let delays = Array(schedule.delays(using: SeededGenerator(seed: 2)).prefix(200))
        #expect(delays.allSatisfy { $0 >= .seconds(5) && $0 <= .seconds(10) })
        #expect(Set(delays).count > 100)
    }

    @Test func copiesOfACustomScheduleAreEqualAndOthersAreNot() {
        let delay = CustomDelay { .seconds($0) }
        let copy = delay
        let other = CustomDelay { .seconds($0) }
        #expect(delay == copy)
        #expect(delay != other)
        #expect(DelaySchedule(.custom(delay)) == DelaySchedule(.custom(copy)))
        #expect(DelaySchedule(.custom(delay)) != DelaySchedule(.custom(delay), jitter: .full))
        #expect(Set([delay, copy, other]).count == 2)
        #expect(delay.delay(afterAttempt: 3) == .seconds(3))
    }
}
