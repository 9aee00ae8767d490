/// The newest entries that came to their end, so that a late command gets a true answer.
///
/// The entries lie in one array that grows to `countMax` and no further; a dictionary of them, or an array that
/// doubles, keeps room for entries that never come.
struct EntryHistory: Sendable {
    private let countMax: Int
    /// A ring: the oldest is overwritten.
    private var entries: [Entry] = []
    private var places: [EntryID: Int32] = [:]
    private var next = 0

    init(countMax: Int = 0) { self.countMax = min(countMax, Int(Int32.max)) }

    subscript(id: EntryID) -> Entry? { places[id].map { entries[Int($0)] } }

    /// The newest of those that took the place of one another.
    func successor(of id: EntryID) -> EntryID {
        var id = id
        // Each is newer than the one before, so this ends.
        while let next = self[id]?.supersededBy { id = next }
        return id
    }

    /// In no order.
    var all: some Collection<Entry> & Sendable { entries }

    /// Shows each entry where it lies, in no order.
    func forEach(_ body: (Entry) -> Void) {
        entries.withUnsafeBufferPointer { for index in $0.indices { body($0[index]) } }
    }

    /// The end of a ticket is on disk, with its URL.
    mutating func urlIsStored(of id: EntryID) {
        change(id) { entry in
            guard entry.ticket != nil, !entry.request.isURLInStore else { return }
            guard Self.cutURL(of: &entry, to: Self.ticketURLByteCountMax) else { return }
            entry.request.isURLInStore = true
            // The store is searched for it.
            entry.forgetFoldedTarget()
        }
    }

    mutating func change(_ id: EntryID, _ work: (inout Entry) -> Void) {
        if let place = places[id] { work(&entries[Int(place)]) }
    }

    /// Most bytes of the URL of a request without a ticket that is remembered; a longer one is cut. With those of the longest
    /// heads the entries would take hundreds of MiB. Default: 2 KiB.
    static let urlByteCountMax = 2 << 10
    /// Most bytes of the URL of a ticket that is remembered. Its whole URL is in the store, where it is read for people. Default: 1 KiB.
    static let ticketURLByteCountMax = 1 << 10

    mutating func remember(_ ended: Entry) {
        guard countMax > 0 else { return }
        var entry = ended
        // The URL of a ticket is cut once its end is on disk (`urlIsStored`).
        if entry.ticket == nil, Self.cutURL(of: &entry, to: Self.urlByteCountMax) { entry.foldTarget() }
        if let place = places[entry.id] {
            entries[Int(place)] = entry
        } else if entries.count < countMax {
            if entries.count == entries.capacity { entries.reserveCapacity(min(countMax, max(16, entries.count * 2))) }
            places[entry.id] = Int32(entries.count)
            entries.append(entry)
        } else {
            places[entries[next].id] = nil
            places[entry.id] = Int32(next)
            entries[next] = entry
            next = (next + 1) % countMax
        }
    }

    /// Cuts a URL that is longer than that, and marks the cut with an ellipsis.
    ///
    /// - Returns: Whether it was longer.
    private static func cutURL(of entry: inout Entry, to byteCountMax: Int) -> Bool {
        guard entry.url.utf8.count > byteCountMax else { return false }
        // Part of a ticket's id would not be found by the mask.
        let masked = MaskedTicketIDs.target(entry.url)
        entry.request.url = String(decoding: masked.utf8.prefix(byteCountMax), as: UTF8.self) + "…"
        return true
    }
}
