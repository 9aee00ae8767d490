/// Something in the pending set that happens at a time.
enum PendingTimer: Sendable {
    /// An entry's own wait is over; stale when the entry has another placement.
    case due(EntryPlace)
    /// An entry has waited or lived long enough.
    case expiry(EntryID)
    /// The credentials of a ticket are past their time.
    case credentials(EntryID)
    /// The gate of an origin may let a canary through; stale when the gate has another time.
    indirect case canary(Origin)
    /// The pause that an origin asked for is over; stale when it ends at another time.
    indirect case pause(Origin)
    /// A ticket may find out whether the store has recovered; stale when that has another time.
    case store
    /// The changes of an incident are due to be reported.
    case incident(IncidentID)
    /// The next portion of entries joins the incidents of what they wait for.
    case strays
}

/// All that is to happen at a time, in its order.
struct DueTimers: Sendable {
    /// Timers that are examined for each added timer: enough to find the stale timers before there are too many.
    private static let looksPerChange = 8
    /// Most timers that are looked at after one fact. Default: 32 768, which takes a few milliseconds.
    private static let looksMax = 1 << 15

    private var heap = PendingHeap<Timestamp, PendingTimer>()
    /// Timers that are to be looked at, because others have become stale.
    private var lookCount = 0
    /// How often all timers were looked at in one step.
    private(set) var completeLookCount = 0

    var count: Int { heap.count }
    /// When the next one is due.
    var nextAt: Timestamp? { heap.first?.key }

    mutating func add(_ timer: PendingTimer, at time: Timestamp) {
        heap.push(timer, key: time)
        lookCount += Self.looksPerChange
    }

    /// An entry has ended. Its timers are stale.
    mutating func entryEnded() { lookCount += 4 * Self.looksPerChange }

    /// Takes out the next one that is due.
    mutating func popDue(at now: Timestamp) -> (at: Timestamp, timer: PendingTimer)? {
        guard let next = heap.first, next.key <= now, let (at, timer) = heap.popFirst() else { return nil }
        return (at, timer)
    }

    /// Timers of entries that are gone come up in their time; this keeps them from piling up until then. It looks at a few after each
    /// fact, and at all of them only if that was not enough.
    mutating func dropStale(_ entries: EntryTable, _ origins: Origins, _ pauses: Pauses, _ incidents: Incidents) {
        let liveCount = entries.count + origins.states.count
        // An entry has up to three.
        guard count > 1000 + 3 * liveCount else { return lookCount = 0 }
        func isStale(_ at: Timestamp, _ timer: PendingTimer) -> Bool {
            switch timer {
            case .due(let place): !entries.isCurrent(place)
            case .expiry(let id): entries[id].map { at < $0.expiresAt } ?? true
            case .credentials(let id): entries[id] == nil
            case .canary(let origin): origins.canaryAt(origin) != at
            case .pause(let origin): !origins.pauseEnds(origin, at: at)
            case .store: pauses.storePauseEnd != at
            case .incident(let id): incidents[id] == nil
            case .strays: false
            }
        }
        let looks = min(lookCount, Self.looksMax)
        lookCount -= looks
        heap.removeSome(looks, where: isStale)
        guard count > 1000 + 4 * liveCount else { return }
        completeLookCount += 1
        // Deadlines are moved by reloads and by people; one timer for each is enough.
        var hasExpiry: Set<EntryID> = []
        heap.removeAll { at, timer in
            if isStale(at, timer) { return true }
            if case .expiry(let id) = timer { return !hasExpiry.insert(id).inserted }
            return false
        }
    }
}
