import Dispatch
import Foundation

/// Something that happens once, between a script and a test. Waiting ends after 45 seconds in any case.
package final class Signal: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    package init() {}

    package func fire() { semaphore.signal() }

    /// Blocks; for scripts.
    ///
    /// - Returns: True if the signal fired in time.
    @discardableResult
    package func block() -> Bool {
        guard semaphore.wait(timeout: .now() + .seconds(45)) == .success else { return false }
        // The next one who asks shall see it too.
        semaphore.signal()
        return true
    }

    /// Suspends; for tests.
    ///
    /// - Returns: True if the signal fired in time.
    @discardableResult
    package func happened() async -> Bool {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [self] in continuation.resume(returning: block()) }
        }
    }
}

/// The moment by which an event of the real machine must have happened.
package struct Deadline: Sendable {
    private let end: ContinuousClock.Instant

    package init(in limit: Duration) {
        end = ContinuousClock.now + limit
    }

    package var hasPassed: Bool { ContinuousClock.now >= end }

    /// The remaining time for poll(2): never negative, and rounded up so that a wait does not spin near its end.
    package var millisecondsLeft: Int32 {
        let left = ContinuousClock.now.duration(to: end)
        guard left > .zero else { return 0 }
        return Int32(clamping: left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000 + 1)
    }
}

/// Waits for a condition that reports no event: asks again and again, and lets other tasks go on in between.
///
/// - Parameters:
///   - what: Words for the error when it does not hold in time.
///   - limit: So long that a busy machine does not miss it, and less than the time limit of suites. Default: 45 s.
package func eventually(
    _ what: @autoclosure () -> String, within limit: Duration = .seconds(45), _ holds: () async throws -> Bool
) async throws {
    try await firstValue(what(), within: limit) { try await holds() ? () : nil }
}

/// Waits in the same way for a value.
package func firstValue<Value>(
    _ what: @autoclosure () -> String, within limit: Duration = .seconds(45), _ find: () async throws -> Value?
) async throws -> Value {
    let deadline = Deadline(in: limit)
    while true {
        if let value = try await find() { return value }
        guard !deadline.hasPassed else { throw WaitedTooLong(what: what()) }
        await Task.yield()
    }
}

/// Repeats a measurement that other work of the machine may spoil: its upper limit has to hold in one round, all other expectations in
/// each. A fault of the product is there in every round. A round that is repeated is printed, so that it is seen if that happens often.
///
/// - Parameters:
///   - limit: In the unit of the figure. A figure below it ends the rounds.
///   - measure: One round, from its start to its figure.
/// - Returns: The smallest figure.
package func smallest(below limit: Double, rounds: Int = 3, _ measure: () async throws -> Double) async throws -> Double {
    var best = Double.infinity
    for round in 1...rounds where best >= limit {
        best = min(best, try await measure())
        if best >= limit { print("round \(round) of \(rounds) is not below its limit of \(limit): \(best)") }
    }
    return best
}

/// Runs work, and ends behind it what it needed, whether it fails or not.
func ending<Value>(_ end: () async -> Void, after work: () async throws -> Value) async throws -> Value {
    let value: Value
    do {
        value = try await work()
    } catch {
        await end()
        throw error
    }
    await end()
    return value
}

/// Runs blocking work on a thread of its own and gives its result.
///
/// The tests wait for sockets, files and processes of the real machine. Waiting for them on the cooperative pool
/// would take its few threads away from every other test. Every wait in `body` needs a deadline of its own.
package func onOwnThread<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread {
            continuation.resume(with: Swift.Result(catching: body))
        }
    }
}
