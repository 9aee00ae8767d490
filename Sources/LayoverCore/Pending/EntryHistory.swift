/// The newest entries that came to their end, so that a late command gets a true answer.
struct EntryHistory: Sendable {
    private let countMax: Int
    private var entries: [EntryID: Entry] = [:]
    /// A ring: the oldest is overwritten.
    private var order: [EntryID] = []
    private var next = 0

    init(countMax: Int = 0) { self.countMax = countMax }

    subscript(id: EntryID) -> Entry? { entries[id] }

    /// In no order.
    var all: some Collection<Entry> & Sendable { entries.values }

    mutating func change(_ id: EntryID, _ work: (inout Entry) -> Void) {
        if var entry = entries[id] {
            work(&entry)
            entries[id] = entry
        }
    }

    mutating func remember(_ entry: Entry) {
        guard countMax > 0 else { return }
        if order.count < countMax {
            order.append(entry.id)
        } else {
            entries[order[next]] = nil
            order[next] = entry.id
            next = (next + 1) % countMax
        }
        entries[entry.id] = entry
    }
}
