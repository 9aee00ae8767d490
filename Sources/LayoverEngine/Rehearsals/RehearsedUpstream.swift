package import NIOCore

/// Plays outages between the proxy and the real upstream: every attempt of every worker passes here.
///
/// The proxy gets events as from any attempt and does not know that they were played.
package struct RehearsedUpstream: Upstream {
    private let real: any Upstream
    private let board: RehearsalBoard
    private let clock: any EngineClock

    package init(_ real: any Upstream, board: RehearsalBoard, clock: any EngineClock) {
        self.real = real
        self.board = board
        self.clock = clock
    }

    package var blocksForPermits: Bool { real.blocksForPermits }

    package func makeWorker(
        for eventLoop: any EventLoop, batchEnded: @escaping @Sendable () -> Void
    ) throws -> any UpstreamWorker {
        RehearsedWorker(
            try real.makeWorker(for: eventLoop, batchEnded: batchEnded), board: board, clock: clock, eventLoop: eventLoop,
            batchEnded: batchEnded)
    }
}
