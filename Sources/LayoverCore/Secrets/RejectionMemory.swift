/// Which clients reject the certificates of our authority for which hosts, most likely because they know the right one (pinning).
///
/// A certain rejection counts at once, a possible one when it is repeated. What is remembered is forgotten after a while, and when the
/// authority changes: clients may trust the new one. Clients are told apart by their address, so programs of one machine count as one.
package struct RejectionMemory: Sendable {
    package struct Limits: Sendable {
        /// Pairs of a client and a host that are remembered; the one that changed first goes first. Default: 1000.
        package var pairCountMax = 1000
        /// Possible rejections that count together as a certain one. Default: 3.
        package var possibleCount = 3
        /// The time in which they have to come. Default: 10 s.
        package var possibleWindow: Duration = .seconds(10)
        /// How long a rejection is remembered. Default: 1 hour.
        package var ageMax: Duration = .seconds(60 * 60)

        package init() {}
    }

    /// A client, and a host that it connects to.
    package struct Pair: Hashable, Sendable {
        /// The client's address, without the port.
        package var client: String
        /// The host, as in CONNECT.
        package var host: String

        package init(client: String, host: String) { (self.client, self.host) = (client, host) }
    }

    private struct Ends: Sendable {
        /// When possible ones came, the oldest first, while they do not count.
        var possibleAt: [Timestamp] = []
        var rejectedAt: Timestamp?
        var changedAt: Timestamp
    }

    private let limits: Limits
    private var pairs: [Pair: Ends] = [:]

    package init(limits: Limits = Limits()) { self.limits = limits }

    /// A client ended its connection to a host.
    /// - Returns: Whether the pair is remembered as rejecting from now on, and was not before.
    package mutating func rejected(_ pair: Pair, _ rejection: TLSRejection, now: Timestamp) -> Bool {
        guard !isRejected(pair, now: now) else { return false }
        var ends = pairs[pair] ?? Ends(changedAt: now)
        ends.changedAt = now
        ends.rejectedAt = nil
        switch rejection {
        case .certain: ends.rejectedAt = now
        case .possible:
            ends.possibleAt.removeAll { now - $0 > limits.possibleWindow }
            ends.possibleAt.append(now)
            if ends.possibleAt.count >= limits.possibleCount { ends.rejectedAt = now }
        }
        if ends.rejectedAt != nil { ends.possibleAt = [] }
        pairs[pair] = ends
        if pairs.count > limits.pairCountMax { forgetOldest() }
        return ends.rejectedAt != nil
    }

    private mutating func forgetOldest() {
        let oldest = pairs.min { ($0.value.changedAt, $0.key.host, $0.key.client) < ($1.value.changedAt, $1.key.host, $1.key.client) }
        if let oldest { pairs[oldest.key] = nil }
    }

    package func isRejected(_ pair: Pair, now: Timestamp) -> Bool {
        guard let at = pairs[pair]?.rejectedAt else { return false }
        return now - at < limits.ageMax
    }

    /// The client accepted the certificate of the host and sent a request. Forgets possible rejections; a remembered rejection stays.
    package mutating func accepted(_ pair: Pair) {
        if pairs[pair]?.rejectedAt == nil { pairs[pair] = nil }
    }

    /// Certificates come from another authority from now on.
    package mutating func authorityChanged() { pairs = [:] }

    /// The hosts that some client rejects, in alphabetical order.
    package func rejectedHosts(now: Timestamp) -> [String] {
        Set(pairs.keys.lazy.filter { isRejected($0, now: now) }.map(\.host)).sorted()
    }
}

/// What the end of a client's TLS connection says about our certificate. A network failure says nothing, and is none of these.
package enum TLSRejection: Sendable, Hashable {
    /// The client said so.
    case certain
    /// The client closed behind our certificate, or behind the handshake without a request. Clients do that for other reasons too.
    case possible

    /// - Parameter alert: Of the client (RFC 8446 section 6.2): bad_certificate 42 to certificate_unknown 46, and unknown_ca 48.
    ///   Others are no judgement of a certificate.
    package init?(alert: Int) {
        guard 42...46 ~= alert || alert == 48 else { return nil }
        self = .certain
    }
}
