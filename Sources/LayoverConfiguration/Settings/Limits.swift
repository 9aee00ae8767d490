import LayoverCore

/// Nothing in the proxy may grow without one of these.
package struct Limits: Sendable, Hashable {
    /// Most clients that wait on their connection at the same time. Default: 1024.
    package var heldClients = 1024
    /// Most entries of the pending set. Default: 100 000.
    package var entries = 100_000
    /// Bytes of a body that stay in memory; more goes to a file. Default: 64 KiB.
    package var bodyInMemory = 64 << 10
    /// Most bytes of a body that are captured; a longer one cannot be sent again. Default: 64 MiB.
    package var bodyMax = 64 << 20
    /// Most bytes of all body files. Default: 1 GiB.
    package var spoolTotal = 1 << 30
    /// Most bytes of the head of a request or a response. Default: 64 KiB.
    package var headerBytes = 64 << 10
    /// Most attempts that go on without a client; when there are more, the oldest ends. Default: 1024.
    package var unattended = 1024
    /// Most responses of the cache that are refreshed at the same time. Default: 64.
    package var cacheRefreshes = 64
    /// Most client connections; a stream of HTTP/2 counts as one too. Default: 10 000.
    package var connections = 10_000
    /// Most bytes of responses that wait for clients that speak HTTP/2. Default: 256 MiB.
    package var unsentTotal = 256 << 20
    /// Most attempts in flight for one origin before replays wait. Fresh requests count and never
    /// wait. Default: 64.
    package var perOriginAttempts = 64
}

/// How long each part of an exchange may take. All are between 1 ms and 7 days.
package struct Timeouts: Sendable, Hashable {
    /// Resolving, connecting and the TLS handshake together. Default: 10 s.
    package var connect = Duration.seconds(10)
    /// From the last byte of the request to the head of the response. Default: standard.
    package var firstByte = FirstByteLimit.standard
    /// Between two pieces of a response. Nil: no limit. Default: nil.
    package var idle: Duration?
    /// How long nothing may come back from a peer that has to answer, probes of the kernel included. Default: 60 s.
    package var deadPeer = Duration.seconds(60)
    /// For the head of a request, from its first byte. Default: 30 s.
    package var requestHead = Duration.seconds(30)
    /// For a body of a request that pauses, while no byte of its response is written either. Default: 10 minutes.
    package var requestBody = Duration.seconds(10 * 60)
    /// For a kept connection without a request. Default: 60 s.
    package var clientIdle = Duration.seconds(60)
    /// For a client that takes nothing of a response that waits for it. Default: 15 minutes.
    package var clientStall = Duration.seconds(15 * 60)
    /// For a tunnel that carries nothing. Default: 124 minutes, the least that RFC 5382 REQ-5 grants an
    /// established connection.
    package var tunnelIdle = Duration.seconds(124 * 60)
    /// For a client on another machine that has closed its sending side and waits for its response. Default: 30 s.
    package var halfClosed = Duration.seconds(30)
    /// For an attempt whose client is gone and that may have been applied; 0 is allowed. Default: 5 minutes.
    package var unattended = Policy.standard.unattendedMax
    /// What attempts in flight get when the process is told to stop; 0 is allowed. Default: 30 s.
    package var drain = Duration.seconds(30)
}

/// How long a response head may take.
package enum FirstByteLimit: Sendable, Hashable {
    /// A client decides itself how long it waits. A ticket has nobody to do so: a server that hangs would hold up its lane.
    case standard
    case off
    case after(Duration)

    /// The limit while a client holds; nil: there is no limit.
    package var held: Duration? { if case .after(let limit) = self { limit } else { nil } }

    /// The limit for a ticket; nil: there is no limit. Standard: 5 minutes.
    package var ticket: Duration? { self == .standard ? .seconds(300) : held }
}
