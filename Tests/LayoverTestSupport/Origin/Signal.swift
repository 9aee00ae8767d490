import Dispatch

/// Something that happens once, between a script and a test. Waiting ends after 20 seconds in any case.
package final class Signal: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    package init() {}

    package func fire() { semaphore.signal() }

    /// Blocks; for scripts.
    ///
    /// - Returns: True if the signal fired in time.
    @discardableResult
    package func block() -> Bool {
        guard semaphore.wait(timeout: .now() + .seconds(20)) == .success else { return false }
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
