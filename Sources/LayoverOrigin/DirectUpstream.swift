package import LayoverEngine
package import NIOCore

/// Makes HTTP/1.1 attempts on the event loop of their client, over connections that another upstream opens.
///
/// The other one dials, so that there is one resolver, one check of addresses, one chain of parent proxies and one kind of evidence
/// for what happens before a connection stands. It also makes the attempts that are none of ours: tunnels, upgrades, and what it alone
/// can do.
///
/// Where to look: `Worker/` is the seam to the loop; `Pool/` the connections that wait for a request; `Connection/` one connection
/// and the exchange of bytes on it; `Evidence/` turns what happened there into failures.
package final class DirectUpstream: Upstream {
    private let dialler: any Upstream
    private let options: DirectOptions

    package init(dialler: any Upstream, options: DirectOptions) {
        self.dialler = dialler
        self.options = options
    }

    /// Attempts with a permit are ours, unless they go over TLS and that is left to the dialler.
    package var blocksForPermits: Bool { options.tls == nil && dialler.blocksForPermits }

    package func makeWorker(
        for eventLoop: any EventLoop, batchEnded: @escaping @Sendable () -> Void
    ) throws -> any UpstreamWorker {
        let dialler = try dialler.makeWorker(for: eventLoop, batchEnded: batchEnded)
        return DirectWorker(options: options, dialler: dialler, eventLoop: eventLoop, batchEnded: batchEnded)
    }
}
