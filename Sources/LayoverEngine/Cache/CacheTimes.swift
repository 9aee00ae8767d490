/// When an exchange with the origin took place, in seconds since 1970 UTC: ages outlive a boot, and dates in
/// fields are wall-clock time.
package struct CacheTimes: Sendable, Hashable {
    /// When the attempt that was answered began.
    package var requestedAt: Int
    /// When the head of its response came.
    package var answeredAt: Int

    package init(requestedAt: Int, answeredAt: Int) {
        self.requestedAt = requestedAt
        self.answeredAt = answeredAt
    }
}
