import LayoverCore
import Testing

struct FailedGuessesTests {
    private var guesses = FailedGuesses()

    private static func at(_ seconds: Int) -> Timestamp { Timestamp(nanoseconds: 0) + .seconds(seconds) }

    @Test mutating func delayGrowsAfterTheFreeFailuresUpToItsLimit() {
        let delays = (1...10).map { _ in guesses.failed(from: "a", at: Self.at(1)) }
        #expect(delays.prefix(3).allSatisfy { $0 == .zero })
        #expect(delays.dropFirst(3).prefix(5) == [.milliseconds(250), .milliseconds(500), .seconds(1), .seconds(2), .seconds(4)])
        #expect(delays.suffix(2) == [.seconds(4), .seconds(4)])
    }

    @Test mutating func addressesAreCountedApartAndForgottenAfterAMinute() {
        for _ in 1...5 { _ = guesses.failed(from: "a", at: Self.at(1)) }
        let other = guesses.failed(from: "b", at: Self.at(1))
        let soon = guesses.failed(from: "a", at: Self.at(61))
        let late = guesses.failed(from: "a", at: Self.at(122))
        #expect(other == .zero && soon > .zero && late == .zero)
    }

    @Test mutating func oldestAddressMakesRoom() {
        for _ in 1...5 { _ = guesses.failed(from: "old", at: Self.at(0)) }
        for number in 0..<FailedGuesses.addressCountMax { _ = guesses.failed(from: "\(number)", at: Self.at(1)) }
        #expect(guesses.addressCount == FailedGuesses.addressCountMax)
        let delay = guesses.failed(from: "old", at: Self.at(2))
        #expect(delay == .zero, "it was forgotten")
    }
}
