/// How a host behaves that is rehearsed.
package enum RehearsalFault: String, CaseIterable, Sendable {
    /// The connection is refused.
    case refuse
    /// Nothing answers the attempt to connect, as behind a link that drops everything.
    case hang
    /// The request is sent, and its response is cut off after some bytes.
    case cut
    /// A response with some status comes, and the host is not asked.
    case status
    /// The request is sent, and its response trickles.
    case slow
    /// A captive portal stands in the way.
    case portal

    /// Whether the fault can be played where the proxy sees only the connection: in a tunnel everything after that is between
    /// client and server.
    package var reachesTunnels: Bool {
        switch self {
        case .refuse, .hang, .portal: true
        case .cut, .status, .slow: false
        }
    }
}

/// An outage of one host that is played, not suffered.
package struct Rehearsal: Sendable, Hashable {
    /// From 1, in the order of their beginnings, since the start of the process.
    package let number: Int
    package let order: RehearsalOrder
    package let startedAt: Timestamp
    package let endsAt: Timestamp

    /// Whether the rehearsal is over at that time.
    package func isOver(at now: Timestamp) -> Bool { now >= endsAt }
}

/// What somebody wants to rehearse.
package struct RehearsalOrder: Sendable, Hashable {
    /// Longest rehearsal: one that is forgotten ends by itself. Default: 24 hours.
    package static let lengthMax: Duration = .seconds(24 * 60 * 60)
    /// The length of one that names none. Default: 10 minutes.
    package static let lengthStandard: Duration = .seconds(10 * 60)
    /// Most bytes that a response may have before it is cut off, and most bytes of a slow one in a second.
    package static let byteCountMax = 1 << 40
    /// Bytes of a slow response in a second. Default: 1024.
    package static let slowStandard = 1024
    /// The status of a made response. Default: 503.
    package static let statusStandard = 503

    package let host: RehearsedHost
    package let fault: RehearsalFault
    /// For `cut`: bytes of the response that come through. For `slow`: those of each second. Nil for the others.
    package let byteCount: Int?
    /// For `status`; nil for the others.
    package let status: Int?
    package let length: Duration

    /// - Parameters:
    ///   - byteCount: Nil: the default of the fault.
    ///   - status: Nil: the default of the fault.
    ///   - length: Nil: the default.
    package init(
        host: RehearsedHost, fault: RehearsalFault, byteCount: Int? = nil, status: Int? = nil, length: Duration? = nil
    ) throws(RehearsalRefusal) {
        let byteCountMin: Int? =
            switch fault {
            case .cut: 0
            case .slow: 1
            case .refuse, .hang, .status, .portal: nil
            }
        if let byteCount {
            guard let byteCountMin else { throw .byteCountWithout(fault) }
            guard (byteCountMin...Self.byteCountMax).contains(byteCount) else { throw .byteCount(min: byteCountMin) }
        }
        if let status {
            guard fault == .status else { throw .statusWithout(fault) }
            // 1xx is no final response.
            guard (200...599).contains(status) else { throw .status }
        }
        let length = length ?? Self.lengthStandard
        guard length > .zero, length <= Self.lengthMax else { throw .length }
        self.host = host
        self.fault = fault
        self.byteCount = byteCountMin.map { byteCount ?? max($0, fault == .slow ? Self.slowStandard : 0) }
        self.status = fault == .status ? status ?? Self.statusStandard : nil
        self.length = length
    }
}

/// Why a rehearsal does not begin.
package enum RehearsalRefusal: Error, Sendable, Hashable {
    case byteCountWithout(RehearsalFault)
    case byteCount(min: Int)
    case statusWithout(RehearsalFault)
    case status
    case length
    /// There are as many as there may be.
    case tooMany
}

/// The rehearsals under way: which there are, which of them is for an origin, and when each is over.
///
/// Of several for one origin the one with a port goes before one for all ports, and then the newest before the older ones; those
/// go on when it is over. Nothing is kept on disk: the end of the process ends every rehearsal.
package struct Rehearsals: Sendable {
    /// Most at a time. Every attempt looks through them while there is one. Default: 100.
    package static let countMax = 100

    /// The oldest first.
    package private(set) var current: [Rehearsal] = []
    private var lastNumber = 0

    package init() {}

    /// When the next one is over; nil while there is none.
    package var nextEndAt: Timestamp? { current.map(\.endsAt).min() }

    package mutating func begin(_ order: RehearsalOrder, now: Timestamp) throws(RehearsalRefusal) -> Rehearsal {
        guard current.count(where: { !$0.isOver(at: now) }) < Self.countMax else { throw .tooMany }
        lastNumber += 1
        let rehearsal = Rehearsal(number: lastNumber, order: order, startedAt: now, endsAt: now + order.length)
        current.append(rehearsal)
        return rehearsal
    }

    /// - Returns: The rehearsal that was stopped; nil if none under way has this number.
    package mutating func stop(_ number: Int, now: Timestamp) -> Rehearsal? {
        guard let index = current.firstIndex(where: { $0.number == number && !$0.isOver(at: now) }) else { return nil }
        return current.remove(at: index)
    }

    /// - Returns: Those that are over by now, in the order of their beginnings.
    package mutating func advance(to now: Timestamp) -> [Rehearsal] {
        let over = current.filter { $0.isOver(at: now) }
        if !over.isEmpty { current.removeAll { $0.isOver(at: now) } }
        return over
    }

    /// The one that an attempt at an origin meets.
    package static func applying(of current: [Rehearsal], to origin: Origin, now: Timestamp) -> Rehearsal? {
        current.filter { !$0.isOver(at: now) && $0.order.host.matches(origin) }
            .max { ($0.order.host.port != nil ? 1 : 0, $0.number) < ($1.order.host.port != nil ? 1 : 0, $1.number) }
    }
}
