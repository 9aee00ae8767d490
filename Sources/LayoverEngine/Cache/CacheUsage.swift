/// How much the cache holds, and how it is doing.
package struct CacheUsage: Sendable, Hashable {
    package var entryCount: Int
    package var entryCountMax: Int
    package var byteCount: Int
    package var byteCountMax: Int
    /// Why the last response could not be kept, for people; nil once a later one was kept.
    package var failure: String?

    package init(
        entryCount: Int = 0, entryCountMax: Int = 0, byteCount: Int = 0, byteCountMax: Int = 0, failure: String? = nil
    ) {
        self.entryCount = entryCount
        self.entryCountMax = entryCountMax
        self.byteCount = byteCount
        self.byteCountMax = byteCountMax
        self.failure = failure
    }
}
