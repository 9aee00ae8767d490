/// Limits on the time of one attempt.
package struct AttemptTimeouts: Sendable, Hashable {
    /// From the start until the connection is open, name resolution and TLS included. Default: 10 s.
    package var connect: Duration = .seconds(10)
    /// From the moment the request is sent until its response head. Nil: there is no limit. Default: nil.
    package var firstByte: Duration?
    /// Longest silence in the middle of a response. Nil: there is no limit. Default: nil.
    package var idle: Duration?
    /// How long nothing may come back from a peer that has to answer, probes of the kernel included (`PeerSilence`). Default: 60 s.
    package var deadPeer: Duration = .seconds(60)

    package init() {}
}
