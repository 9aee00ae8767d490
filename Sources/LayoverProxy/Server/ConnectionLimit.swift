import Synchronization

/// Counts client connections of all loops: those by HTTP/1.1, tunnels, and each stream of HTTP/2. Touched once when one opens and once when
/// it closes.
package final class ConnectionLimit: Sendable {
    package let countMax: Int
    private let count = Atomic<Int>(0)

    package init(countMax: Int) { self.countMax = countMax }

    /// Those that are open. One that is refused counts until it is closed.
    package var openCount: Int { count.load(ordering: .relaxed) }

    func opened() -> Bool { count.add(1, ordering: .relaxed).newValue <= countMax }

    func closed() { count.subtract(1, ordering: .relaxed) }
}
