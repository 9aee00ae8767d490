import Synchronization

/// Counts client connections of all loops. Touched once when a connection opens and once when it closes.
package final class ConnectionLimit: Sendable {
    package let countMax: Int
    private let count = Atomic<Int>(0)

    package init(countMax: Int) { self.countMax = countMax }

    func opened() -> Bool { count.add(1, ordering: .relaxed).newValue <= countMax }

    func closed() { count.subtract(1, ordering: .relaxed) }
}
