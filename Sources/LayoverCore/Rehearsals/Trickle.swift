/// How much of a slow response has come by a certain time.
package struct Trickle: Sendable, Hashable {
    private let bytesPerSecond: Int
    private let startedAt: Timestamp
    private var passedCount = 0

    package init(bytesPerSecond: Int, startedAt: Timestamp) {
        self.bytesPerSecond = bytesPerSecond
        self.startedAt = startedAt
    }

    /// Bytes that may be passed on now, besides those that were.
    package func allowance(at now: Timestamp) -> Int {
        // More than what fits an Int has come long ago.
        let come = max(0, (now - startedAt).inSeconds) * Double(bytesPerSecond)
        return come >= Double(Int.max / 2) ? Int.max / 2 : max(0, Int(come) - passedCount)
    }

    package mutating func passed(_ count: Int) { passedCount += count }
}
