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
