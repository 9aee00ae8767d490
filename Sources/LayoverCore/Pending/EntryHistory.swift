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

    mutating func change(_ id: EntryID, _ work: (inout Entry) -> Void) {
        if let place = places[id] { work(&entries[Int(place)]) }
    }

    /// Most bytes of the URL of a request without a ticket that is remembered; a longer one is cut. With those of the longest
    /// heads the entries would take hundreds of MiB. Default: 2 KiB.
    static let urlByteCountMax = 2 << 10

    mutating func remember(_ ended: Entry) {
        guard countMax > 0 else { return }
        var entry = ended
        // That of a ticket is in the store too, and what its response names is found by it.
        if entry.ticket == nil, entry.url.utf8.count > Self.urlByteCountMax {
            let masked = MaskedTicketIDs.target(entry.url)
            entry.request.url = String(decoding: masked.utf8.prefix(Self.urlByteCountMax), as: UTF8.self) + "…"
            entry.foldTarget()
        }
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
}
