package import Synchronization

/// What one user of the proxy port has asked for, on one loop. Only that loop writes; any thread may read.
package final class UserCount: Sendable {
    package let name: String
    package let requestCount = Atomic<Int>(0)

    init(name: String) { self.name = name }
}
