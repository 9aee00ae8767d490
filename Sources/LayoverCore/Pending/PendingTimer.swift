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
    /// A ticket may find out whether the store is well again; stale when that has another time.
    case store
    /// The changes of an incident are due to be told.
    case incident(IncidentID)
}

/// An entry as it stood when it was put into a heap.
struct EntryPlace: Sendable, Hashable {
    var id: EntryID
    private var placement: UInt32

    init(id: EntryID, placement: Int) {
        self.id = id
        self.placement = UInt32(truncatingIfNeeded: placement)
    }

    /// Whether the entry still stands there.
    func isPlace(of entry: Entry) -> Bool { placement == UInt32(truncatingIfNeeded: entry.placement) }
}
