/// How much the cache holds. Kept in memory, because it is looked at with every response.
struct CacheTally: Sendable {
    var entryCount = 0
    var byteCount = 0
    /// Of bodies that are not complete yet.
    var arrivingByteCount = 0
    var failure: String?

    /// May come before the word of the insertion, on another thread, so the sums may be below zero for a moment.
    mutating func removed(_ rows: [RemovedRow]) {
        entryCount -= rows.count
        byteCount -= rows.reduce(0) { $0 + $1.byteCount }
    }
}

/// The file and the size of a removed row.
struct RemovedRow: Sendable {
    var file: String?
    var byteCount: Int
}
