import LayoverCore

/// What the engine remembers of tickets besides the pending set: what is on its way to the disk, and who watches.
struct TicketBook {
    /// Tickets that the fact at hand has changed.
    private(set) var touched: [EntryID] = []
    private var touchedOnce: Set<EntryID> = []
    /// Attempts that the fact at hand wants. They are made once what it changed is on its way to the disk.
    var starts: [(id: EntryID, trigger: AttemptTrigger)] = []
    /// Answers that are to be kept together with the end of their ticket.
    var answers: [EntryID: StoredAnswer] = [:]
    /// What the disk would not take, by ticket, the oldest first. It is tried again and again.
    var unsaved: [EntryID: [StoreChange]] = [:]
    /// Why the disk would not take the newest of them; nil: it takes all.
    var savingFailure: StoreFailure?
    /// Entries that are about to end, and whose clients know of no ticket.
    var untold: Set<EntryID> = []
    /// Changes that are on their way to the disk, by ticket.
    var pendingSaves: [EntryID: Int] = [:]
    /// Who wants to know when a ticket is final or undecided, or what was changed is on disk.
    var watchers: [EntryID: [Int: @Sendable () -> Void]] = [:]
    var nextWatcher = 0
    /// How times on disk relate to those since boot.
    var clock = TicketClock()
    /// When the disk was last told how late it is.
    var lastSign: Timestamp?
    /// Loops take tickets in turn.
    var nextLoop = 0
    var routes = RouteTable()
    /// Whether the routes have been changed since the start.
    var isReloaded = false
    /// How long ended tickets are kept; nil: nobody said.
    var history: Duration?

    /// Takes note of a change that has to be handed in once more.
    mutating func keep(_ change: StoreChange, of id: EntryID) {
        // Of two standings the newer one says it all; an answer, or that nobody wants it, is said by nothing else.
        if case .update = change, case .update? = unsaved[id]?.last { unsaved[id]?.removeLast() }
        unsaved[id, default: []].append(change)
    }

    mutating func touch(_ id: EntryID) {
        if touchedOnce.insert(id).inserted { touched.append(id) }
    }

    func isTouched(_ id: EntryID) -> Bool { touchedOnce.contains(id) }

    mutating func takeTouched() -> [EntryID] {
        defer {
            touched = []
            touchedOnce = []
        }
        return touched
    }
}
