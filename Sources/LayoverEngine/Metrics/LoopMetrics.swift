package import Synchronization

/// Counters of one event loop. Only that loop writes, so there is no contention; any thread may read.
package final class LoopMetrics: Sendable {
    package let requestCount = Atomic<Int>(0)
    package let connectionCount = Atomic<Int>(0)
    package let openConnectionCount = Atomic<Int>(0)
    package let tunnelCount = Atomic<Int>(0)
    package let openTunnelCount = Atomic<Int>(0)
    /// Open tunnels through which no byte passes for now.
    package let frozenTunnelCount = Atomic<Int>(0)
    package let attemptCount = Atomic<Int>(0)
    package let failedAttemptCount = Atomic<Int>(0)
    package let resumedResponseCount = Atomic<Int>(0)
    package let ownResponseCount = Atomic<Int>(0)
    package let refusedRequestCount = Atomic<Int>(0)
    package let requestByteCount = Atomic<Int>(0)
    package let responseByteCount = Atomic<Int>(0)
    /// By how much the loop was late for its tick, once a second.
    package let loopLag = DelayMeter()
    /// How long a worker took to hear of a command, every ten seconds.
    package let workerLag = DelayMeter()
    /// Responses by the first digit of their status, 1 to 5.
    private let statusClass1 = Atomic<Int>(0)
    private let statusClass2 = Atomic<Int>(0)
    private let statusClass3 = Atomic<Int>(0)
    private let statusClass4 = Atomic<Int>(0)
    private let statusClass5 = Atomic<Int>(0)
    /// Requests that were refused with 407.
    package let unauthenticatedRequestCount = Atomic<Int>(0)
    private let userCounts = Mutex<[String: UserCount]>([:])

    package init() {}

    package func countResponse(status: Int) {
        switch status / 100 {
        case 1: statusClass1.increment()
        case 2: statusClass2.increment()
        case 3: statusClass3.increment()
        case 4: statusClass4.increment()
        default: statusClass5.increment()
        }
    }

    /// Requests by user.
    package var users: [UserCount] { userCounts.withLock { Array($0.values) } }

    /// Counts for these users from now on, and for no others. Who had a count goes on with it.
    package func countUsers(_ names: [String]) -> [String: UserCount] {
        userCounts.withLock { counts in
            let old = counts
            counts = Dictionary(names.map { ($0, old[$0] ?? UserCount(name: $0)) }) { first, _ in first }
            return counts
        }
    }

    /// Responses by status class, index 0 for 1xx.
    package var responseCounts: [Int] {
        [
            statusClass1.current, statusClass2.current, statusClass3.current, statusClass4.current,
            statusClass5.current,
        ]
    }
}

extension Atomic where Value == Int {
    /// Adds without a locked instruction; right only where one thread alone writes.
    package func increment(by amount: Int = 1) {
        store(load(ordering: .relaxed) &+ amount, ordering: .relaxed)
    }

    package var current: Int { load(ordering: .relaxed) }
}

/// What one user of the proxy port has asked for, on one loop. Only that loop writes; any thread may read.
package final class UserCount: Sendable {
    package let name: String
    package let requestCount = Atomic<Int>(0)

    init(name: String) { self.name = name }
}
