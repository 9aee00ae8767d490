/// What keeps entries back wherever they go: a captive portal, and a store that takes no start records. What a person asks
/// for goes all the same.
///
/// While a portal answers for every origin, what carries a body or credentials over plain http is put aside.
///
/// The start of each attempt of a ticket is recorded on disk before its first byte leaves. While the disk takes no such
/// record, each attempt would only find that out once more, and as the canary of its origin stand in the way of requests
/// that need no store. So tickets do not go: requests that clients hold pass them. After a pause one ticket goes, the one
/// that was put aside longest ago of those whose gates let it; as soon as the store takes anything, all of them go on.
struct Pauses: Sendable {
    /// How long no ticket goes after the store did not take a start record. Default: 5 s.
    static let storePause: Duration = .seconds(5)

    /// Whether a captive portal answers for every origin.
    private(set) var isBehindPortal = false
    /// Eligible entries that wait for the portal to go away.
    private var waitingForPortal: Set<EntryPlace> = []
    /// Until when no ticket goes by itself. Nil while the store takes start records.
    private(set) var storePauseEnd: Timestamp?
    /// The ticket that went after the pause, to find out whether the store has recovered.
    private(set) var storeProbe: EntryID?
    /// Counts the tickets that were put aside, for their order.
    private var pausedCount = 0

    var waitingForPortalCount: Int { waitingForPortal.count }

    // MARK: The portal

    func mustWaitForPortal(_ entry: Entry) -> Bool {
        // mutant: portal
        isBehindPortal && entry.isExposed && entry.eligibleBy != .admin
    }

    /// Puts an entry aside whose turn has come.
    mutating func putAsideForPortal(_ place: EntryPlace, liveCount: Int, isCurrent: (EntryPlace) -> Bool) {
        waitingForPortal.insert(place)
        // Behind a portal that stays, places of entries that are gone would pile up.
        if waitingForPortal.count > 100 + 2 * liveCount { waitingForPortal = waitingForPortal.filter(isCurrent) }
    }

    mutating func portalCame() { isBehindPortal = true }

    /// - Returns: What was put aside, in no order.
    mutating func portalLeft() -> Set<EntryPlace> {
        isBehindPortal = false
        defer { waitingForPortal = [] }
        return waitingForPortal
    }

    // MARK: The store

    /// Whether an entry does not go because the start of its attempt could not be recorded.
    func isPausedByStore(_ entry: Entry) -> Bool {
        storePauseEnd != nil && entry.ticket != nil && entry.eligibleBy != .admin
    }

    /// The order of an entry that is put aside: behind all others, also if it was put aside before.
    mutating func nextPausedOrder() -> Int {
        pausedCount += 1
        return pausedCount
    }

    /// - Returns: When the pause is over.
    mutating func storeRefused(now: Timestamp) -> Timestamp {
        storeProbe = nil
        storePauseEnd = now + Self.storePause
        return now + Self.storePause
    }

    mutating func storeRecovered() { (storePauseEnd, storeProbe) = (nil, nil) }

    mutating func probeStarted(_ id: EntryID) { storeProbe = id }
}
