package import LayoverEngine
package import LayoverHTTP
package import LayoverTLS
package import NIOCore

/// Makes HTTP/1.1 attempts on the event loop of their client, over connections that another upstream opens.
///
/// The other one dials, so that there is one resolver, one check of addresses, one chain of parent proxies and one kind of evidence
/// for what happens before a connection stands. It also makes the attempts that are none of ours: tunnels, upgrades, and what it alone
/// can do.
///
/// Where to look: `Worker/` is the seam to the loop, and has the connections that wait for a request; `Connecting/` opens connections;
/// `Connection/` is one connection with the exchange of bytes on it, and the failures that it ends with.
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

/// What the direct workers of all loops have in common.
package struct DirectOptions: Sendable {
    /// The trusted certificates and settings of TLS connections. Nil: the dialler makes attempts over TLS. Default: nil.
    package var tls: TLSClientContext?
    /// Asked before a connection is used again that was opened under other exceptions.
    package var addressGuard: any AddressGuard
    /// Idle connections to a server of this machine are closed after so long when the client that used them last has left: such a
    /// server may serve one connection at a time. Default: 3 s.
    package var idleWithoutClientMax: Duration = .seconds(3)
    /// Idle connections that are older are closed. Servers commonly give up after 60 to 75 s, and to be first avoids the race.
    /// Default: 55 s.
    package var idleConnectionAgeMax: Duration = .seconds(55)
    /// Most idle connections that one worker keeps to one origin. Default: 256.
    package var idleConnectionsPerOriginMax = 256
    /// Most idle connections that one worker keeps. Default: 1 024.
    package var idleConnectionCountMax = 1024
    /// How long a connection may have been idle that carries a request which must not be sent twice. Default: 2 s.
    package var idleForUnrepeatableMax: Duration = .seconds(2)
    /// Bytes of a response that may wait for the recipient before its connection is not read any more. Default: 512 KiB.
    package var bytesOutstandingMax = 512 << 10
    /// Most bytes that are read from a connection at once. Default: 256 KiB.
    package var readByteCountMax = 256 << 10
    /// Most bytes of the body of a request that are sent at once. Default: 64 KiB.
    package var pieceByteCountMax = 64 << 10
    /// How long a body waits for `100 (Continue)` where the client expects one. Default: 1 s.
    package var continueWaitMax: Duration = .seconds(1)
    /// How long an origin that has answered completely may take nothing of the rest of the request, where `timeouts.idle` does not say.
    /// Default: 5 minutes.
    package var restStallMax: Duration = .seconds(300)
    /// How long an origin that has answered completely may take nothing of the rest of the request before the withheld end of a success
    /// is passed on all the same: a client without a proxy would have it. Default: 30 s.
    package var endWithheldMax: Duration = .seconds(30)
    /// How long a client whose request has all been sent so far may pause before it gets the withheld end: it may wait for that.
    /// Default: 250 ms.
    package var requestPauseMax: Duration = .milliseconds(250)
    /// Limits on response heads and trailers. Default: as of `FramingLimits`.
    package var responseLimits = FramingLimits()

    package init(addressGuard: any AddressGuard) { self.addressGuard = addressGuard }
}
