import Testing

@testable import LayoverCore

struct TimestampTests {
    struct Step: Sendable {
        var start: Int64
        var step: Duration
        var end: Int64
    }

    private static let additions: [Step] = [
        Step(start: 0, step: .milliseconds(1500), end: 1_500_000_000),
        Step(start: 10, step: .nanoseconds(-20), end: -10),
        Step(start: .max - 1, step: .nanoseconds(1), end: .max),
        Step(start: .max - 1, step: .nanoseconds(2), end: .max),
        Step(start: .min + 1, step: .nanoseconds(-2), end: .min),
        Step(start: 0, step: .seconds(Int64.max), end: .max),
        Step(start: 0, step: .seconds(Int64.min), end: .min),
        Step(start: -1, step: .seconds(Int64.max), end: .max - 1),
    ]

    @Test(arguments: additions)
    func additionStopsAtTheEnds(_ row: Step) {
        #expect(Timestamp(nanoseconds: row.start) + row.step == Timestamp(nanoseconds: row.end))
    }

    private static let differences: [Step] = [
        Step(start: 3, step: .nanoseconds(2), end: 5), Step(start: 5, step: .nanoseconds(-2), end: 3),
        Step(start: .min, step: .nanoseconds(Int64.max), end: .max),
        Step(start: .max, step: .nanoseconds(Int64.min), end: .min),
    ]

    @Test(arguments: differences)
    func differencesStopAtTheEnds(_ row: Step) {
        #expect(Timestamp(nanoseconds: row.end) - Timestamp(nanoseconds: row.start) == row.step)
    }

    private static let durations: [(Duration, Int64)] = [
        (.nanoseconds(7), 7), (.nanoseconds(-7), -7), (.microseconds(-1500), -1_500_000),
        (.seconds(9_223_372_036), 9_223_372_036_000_000_000), (.seconds(9_223_372_037), .max),
        (.seconds(-9_223_372_037), .min), (.milliseconds(9_223_372_036_999), .max),
        (.milliseconds(-9_223_372_036_999), .min), (.seconds(Int64.max), .max), (.seconds(Int64.min), .min),
    ]

    @Test(arguments: durations)
    func nanosecondsAreHeldAtTheEnds(duration: Duration, expected: Int64) {
        #expect(duration.nanosecondsSaturating == expected)
    }

    @Test func nothingComesAfterTheDistantFuture() {
        #expect(Timestamp(nanoseconds: .max - 1) < .distantFuture)
        #expect(Timestamp.distantFuture + .seconds(1) == .distantFuture)
        #expect(Duration.milliseconds(-1250).inSeconds == -1.25)
    }
}
