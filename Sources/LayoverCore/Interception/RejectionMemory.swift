/// The hosts whose clients reject the certificates of our authority, most likely because they know the right one (pinning).
///
/// A certain rejection counts at once, a possible one when it is repeated. What is remembered is forgotten after a while, and when the
/// authority changes: clients may trust the new one.
package struct RejectionMemory: Sendable {
    package struct Limits: Sendable {
        /// Hosts that are remembered; the one whose entry is oldest goes first. Default: 1000.
        package var hostCountMax = 1000
        /// Possible rejections that count together as a certain one. Default: 3.
        package var possibleCount = 3
        /// The time in which they have to come. Default: 10 s.
        package var possibleWindow: Duration = .seconds(10)
        /// How long a rejection is remembered. Default: 1 hour.
        package var ageMax: Duration = .seconds(60 * 60)

        package init() {}
    }

    private struct Host: Sendable {
        /// When possible ones came, the oldest first, while they do not count.
        var possibleAt: [Timestamp] = []
        var rejectedAt: Timestamp?
        var changedAt: Timestamp
    }

    private let limits: Limits
    private var hosts: [String: Host] = [:]

    package init(limits: Limits = Limits()) { self.limits = limits }

    /// A client ended its connection to a host.
    /// - Returns: Whether the host is remembered from now on, and was not before.
    package mutating func rejected(_ name: String, _ rejection: TLSRejection, now: Timestamp) -> Bool {
        guard !isRejected(name, now: now) else { return false }
        var host = hosts[name] ?? Host(changedAt: now)
        host.changedAt = now
        host.rejectedAt = nil
        switch rejection {
        case .certain: host.rejectedAt = now
        case .possible:
            host.possibleAt.removeAll { now - $0 > limits.possibleWindow }
            host.possibleAt.append(now)
            if host.possibleAt.count >= limits.possibleCount { host.rejectedAt = now }
        }
        if host.rejectedAt != nil { host.possibleAt = [] }
        hosts[name] = host
        if hosts.count > limits.hostCountMax, let oldest = hosts.min(by: { ($0.value.changedAt, $0.key) < ($1.value.changedAt, $1.key) }) {
            hosts[oldest.key] = nil
        }
        return host.rejectedAt != nil
    }

    package func isRejected(_ name: String, now: Timestamp) -> Bool {
        guard let at = hosts[name]?.rejectedAt else { return false }
        return now - at < limits.ageMax
    }

    /// A client of the host took the certificate and sent a request: earlier ends meant something else.
    package mutating func accepted(_ name: String) {
        if hosts[name]?.rejectedAt == nil { hosts[name] = nil }
    }

    /// Certificates come from another authority from now on.
    package mutating func authorityChanged() { hosts = [:] }

    /// The hosts that are remembered, in alphabetical order.
    package func rejectedHosts(now: Timestamp) -> [String] { hosts.keys.filter { isRejected($0, now: now) }.sorted() }
}
