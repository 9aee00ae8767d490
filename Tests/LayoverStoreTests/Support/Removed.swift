import Synchronization

/// Adds up what it is told.
final class Removed: Sendable {
    private let count = Mutex(0)
    var total: Int { count.withLock { $0 } }
    func add(_ number: Int) { count.withLock { $0 += number } }
}
