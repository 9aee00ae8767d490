/// When URLs were last changed by somebody. What was asked for before that is neither kept nor given, although a
/// transfer or a removal may still be under way.
struct RecentInvalidations: Sendable {
    /// Most URLs that are remembered one by one. Past that all older responses count as changed. Default: 4096.
    private let countMax: Int

    private var changedAt: [CacheURL: Int] = [:]
    /// Whatever was asked for at this time or before is outdated.
    private var floor = Int.min

    init(countMax: Int = 4096) { self.countMax = countMax }

    /// - Parameter now: Seconds since 1970.
    mutating func changed(_ url: CacheURL, now: Int) {
        if changedAt.count >= countMax, changedAt[url] == nil {
            floor = max(floor, changedAt.values.max() ?? floor)
            changedAt = [:]
        }
        changedAt[url] = max(now, changedAt[url] ?? now)
    }

    /// Whether a response requested at that time may be older than the last change. The same second counts as before it.
    func isOutdated(_ url: CacheURL, requestedAt: Int) -> Bool {
        requestedAt <= floor || changedAt[url].map { requestedAt <= $0 } ?? false
    }
}
