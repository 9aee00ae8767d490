import Foundation

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
