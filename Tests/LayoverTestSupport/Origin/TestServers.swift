import Synchronization

/// Servers that a test has started. They live until the test is over, and end then.
package final class TestServers: Sendable {
    /// The servers of the test that runs. Nil: the test ends its servers itself.
    @TaskLocal private static var current: TestServers?

    private let stops = Mutex<[@Sendable () async throws -> Void]>([])

    private init() {}

    /// - Parameter stop: Ends a server. It may have ended before.
    package static func endWithTest(_ stop: @escaping @Sendable () async throws -> Void) {
        guard let current else { return }
        current.stops.withLock { $0.append(stop) }
    }

    /// Runs a test and ends its servers, the youngest first, whether it fails or not.
    package static func ending(_ test: () async throws -> Void) async throws {
        let servers = TestServers()
        var failure: (any Error)?
        do {
            try await $current.withValue(servers) { try await test() }
        } catch {
            failure = error
        }
        for stop in servers.stops.withLock({ $0 }).reversed() {
            do {
                try await stop()
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }
}
