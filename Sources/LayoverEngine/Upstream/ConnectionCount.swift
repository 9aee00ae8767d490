import LayoverCore

/// The connections to one origin, or to a parent proxy.
package struct ConnectionCount: Sendable, Hashable {
    /// Those that are open, idle ones included.
    package var open = 0
    /// Requests under way on them. A connection carries one at a time, by HTTP/2 too.
    package var busy = 0

    package init(open: Int = 0, busy: Int = 0) { (self.open, self.busy) = (open, busy) }

    package static func += (count: inout Self, more: Self) {
        count.open += more.open
        count.busy += more.busy
    }
}

extension [Origin: ConnectionCount] {
    package mutating func add(_ others: Self) { for (origin, count) in others { self[origin, default: .init()] += count } }

    package var total: ConnectionCount { values.reduce(into: .init()) { $0 += $1 } }
}
