package import NIOCore

/// The seam between the proxy and the client library that reaches servers.
package protocol Upstream: Sendable {
    /// Whether a worker blocks while it waits for the permit of an attempt (`UpstreamAttempt.permit`).
    var blocksForPermits: Bool { get }

    /// Makes the worker of one event loop.
    ///
    /// - Parameter batchEnded: Called on the loop after each group of events, so that writes can be
    ///   flushed once a group.
    func makeWorker(
        for eventLoop: any EventLoop, batchEnded: @escaping @Sendable () -> Void
    ) throws -> any UpstreamWorker
}
