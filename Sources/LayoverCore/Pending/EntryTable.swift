/// The live entries by their ids, with room for a million of them.
///
/// A dictionary keeps up to half of its room free, and an entry is big. So the entries stand close together in
/// chunks, and the dictionary only says where. Who leaves is replaced by the last one.
struct EntryTable: Sendable {
    /// Entries in a chunk: few enough that the last one wastes little, enough that chunks are few.
    private static let chunkCount = 256

    private var places: [EntryID: Int32] = [:]
    private var arrivals = ArrivalOrder()
    /// How many entries are in each state.
    private(set) var stateCounts: [EntryState: Int] = [:]
    /// Entries whose clients wait on their connections.
    private(set) var heldCount = 0
    /// Entries whose attempts go on without a client, and that no others wait for.
    private(set) var unattendedCount = 0
    /// The counts of its members that each open incident shows.
    private(set) var incidentTallies: [IncidentID: IncidentTally] = [:]
    /// Full but for the last one. Nil only while an entry is being taken out.
    private var chunks: [[Entry?]] = []

    var count: Int { places.count }
    var isEmpty: Bool { places.isEmpty }
    var keys: some Collection<EntryID> & Sendable { places.keys }
    /// In no order that means anything.
    var values: Values { Values(chunks: chunks, size: count) }

    subscript(id: EntryID) -> Entry? {
        // In place: copying an entry out and in again is twenty times the work of reading or changing one member.
        _read {
            guard let place = places[id] else {
                yield nil
                return
            }
            yield chunks[Self.chunk(place)][Self.offset(place)]
        }
        _modify {
            guard let place = places[id] else {
                var entry: Entry?
                yield &entry
                if let entry { append(entry, id) }
                return
            }
            let before = counted(at: place)
            yield &chunks[Self.chunk(place)][Self.offset(place)]
            let after = counted(at: place)
            if before != after { count(before, after) }
            if after == nil { close(place, of: id) }
        }
    }

    func contains(_ id: EntryID) -> Bool { places[id] != nil }

    /// Shows each entry where it lies, in no order: to copy one takes longer than most of what is asked of it.
    func forEach(_ body: (Entry) -> Void) {
        // No slot is nil now.
        for chunk in chunks { Self.show(chunk) { for index in $0.indices { body($0[index]) } } }
    }

    /// Shows one entry where it lies.
    ///
    /// - Returns: Nil if there is no such entry.
    func show<Answer>(_ id: EntryID, _ body: (Entry) -> Answer) -> Answer? {
        places[id].map { place in Self.show(chunks[Self.chunk(place)]) { body($0[Self.offset(place)]) } }
    }

    private static func show<Answer>(_ chunk: [Entry?], _ body: (UnsafeBufferPointer<Entry>) -> Answer) -> Answer {
        chunk.withUnsafeBufferPointer { slots in
            // A slot that is not nil begins with its entry.
            precondition(MemoryLayout<Entry?>.stride == MemoryLayout<Entry>.stride)
            return slots.withMemoryRebound(to: Entry.self, body)
        }
    }

    /// The facts by which the entry at a place is counted. Nil: it has just been taken out.
    private func counted(at place: Int32) -> CountedFacts? {
        if case .none = chunks[Self.chunk(place)][Self.offset(place)] { return nil }
        return Self.show(chunks[Self.chunk(place)]) { CountedFacts.of($0[Self.offset(place)]) }
    }

    /// Whether an entry still waits where it was put.
    func isCurrent(_ place: EntryPlace) -> Bool {
        guard let entry = self[place.id], entry.state == .waiting else { return false }
        return entry.placement == place.placement
    }

    func memberCount(of incident: IncidentID) -> Int { incidentTallies[incident]?.count ?? 0 }

    /// Whether an entry is in an incident now.
    func isMember(_ id: EntryID, of incident: IncidentID) -> Bool { show(id) { $0.incident == incident } ?? false }

    /// Whether an entry waits for a due time as a member of an incident.
    func isDue(in incident: IncidentID) -> (EntryID, Timestamp) -> Bool {
        return { id, dueAt in
            show(id) { $0.incident == incident && $0.dueAt == dueAt && $0.state == .waiting && !$0.isBlocked } ?? false
        }
    }

    /// Whether one came before another.
    func isBefore(_ one: EntryID, _ other: EntryID) -> Bool { (self[one]?.sequence ?? 0) < (self[other]?.sequence ?? 0) }

    /// The ids of all entries in the order of their arrival: what a fact does to many must not hang on the order
    /// of a dictionary.
    var idsInOrder: [EntryID] {
        // Only what is sorted is copied: entries are big, and there may be very many.
        values.map { (sequence: $0.sequence, id: $0.id) }.sorted { $0.sequence < $1.sequence }.map(\.id)
    }

    private mutating func count(_ before: CountedFacts?, _ after: CountedFacts?) {
        if let before {
            stateCounts[before.state, default: 0] -= 1
            // mutant: miscounted
            if before.isHeld { heldCount -= 1 }
            if before.isUnattended { unattendedCount -= 1 }
        }
        if let after {
            stateCounts[after.state, default: 0] += 1
            if after.isHeld { heldCount += 1 }
            if after.isUnattended { unattendedCount += 1 }
        }
        if before?.share != after?.share { count(before?.share, after?.share) }
    }

    private mutating func count(_ before: IncidentTally.Share?, _ after: IncidentTally.Share?) {
        if let before, let after, before.incident == after.incident {
            incidentTallies[before.incident]?.change(before, to: after)
            return
        }
        if let before {
            incidentTallies[before.incident]?.remove(before)
            if incidentTallies[before.incident]?.count == 0 { incidentTallies[before.incident] = nil }
        }
        if let after { incidentTallies[after.incident, default: IncidentTally()].add(after) }
    }

    /// The ids in the order of arrival.
    func inOrder(_ ids: some Sequence<EntryID>) -> [EntryID] {
        // Only what is sorted is copied, once each.
        let found = ids.compactMap { id in show(id) { ($0.sequence, id) } }
        return found.sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// All in the order of arrival. Some may have left meanwhile.
    mutating func inOrder() -> [ArrivalOrder.Item] { arrivals.sorted() }

    /// Adds an entry, in place of one with its id.
    mutating func insert(_ entry: Entry) {
        if contains(entry.id) { self[entry.id] = entry } else { append(entry, entry.id) }
    }

    mutating func reserveCapacity(_ count: Int) { places.reserveCapacity(count) }

    private mutating func append(_ entry: Entry, _ id: EntryID) {
        let place = Int32(clamping: count)
        if Self.offset(place) == 0 {
            chunks.append([])
            chunks[chunks.count - 1].reserveCapacity(Self.chunkCount)
        }
        chunks[chunks.count - 1].append(entry)
        places[id] = place
        count(nil, CountedFacts.of(entry))
        arrivals.append(id, entry.sequence)
    }

    /// Fills a place that has become free with the last entry.
    private mutating func close(_ place: Int32, of id: EntryID) {
        let lastPlace = Int32(clamping: count - 1)
        places[id] = nil
        let last = chunks[chunks.count - 1].removeLast()
        if chunks[chunks.count - 1].isEmpty { chunks.removeLast() }
        defer { arrivals.tidy(liveCount: places.count) { places[$0.id] != nil } }
        guard place != lastPlace, let last else { return }
        chunks[Self.chunk(place)][Self.offset(place)] = last
        places[last.id] = place
    }

    private static func chunk(_ place: Int32) -> Int { Int(place) / chunkCount }
    private static func offset(_ place: Int32) -> Int { Int(place) % chunkCount }

    /// All entries of a table.
    struct Values: RandomAccessCollection, Sendable {
        fileprivate let chunks: [[Entry?]]
        fileprivate let size: Int

        var startIndex: Int { 0 }
        var endIndex: Int { size }

        subscript(index: Int) -> Entry {
            guard let entry = chunks[index / EntryTable.chunkCount][index % EntryTable.chunkCount] else {
                preconditionFailure("a table has a gap at \(index)")
            }
            return entry
        }
    }
}

/// An entry as it stood when it was put into a heap.
struct EntryPlace: Sendable, Hashable {
    var id: EntryID
    var placement: UInt32
}

/// What an entry is counted by.
private struct CountedFacts: Equatable {
    var state: EntryState
    var isHeld: Bool
    var isUnattended: Bool
    var share: IncidentTally.Share?

    static func of(_ entry: Entry) -> CountedFacts {
        CountedFacts(
            state: entry.state, isHeld: entry.isHeldByClient, isUnattended: entry.isUnattended && !entry.isAwaitedByOthers,
            share: IncidentTally.share(of: entry))
    }
}

/// The ids of entries by their sequence, so that a page of the list costs no more than its length.
///
/// Ids of entries that have left are skipped. They are removed when there are too many of them.
struct ArrivalOrder: Sendable {
    struct Item: Sendable {
        var sequence: Int
        var id: EntryID
    }

    private var items: [Item] = []
    private var isSorted = true

    /// Most come in their order; the others are sorted when the order is read.
    mutating func append(_ id: EntryID, _ sequence: Int) {
        if let last = items.last, last.sequence > sequence { isSorted = false }
        items.append(Item(sequence: sequence, id: id))
    }

    /// Throws out who has left once they are more than those that have not.
    mutating func tidy(liveCount: Int, isLive: (Item) -> Bool) {
        guard items.count > 1000 + 2 * liveCount else { return }
        items.removeAll { !isLive($0) }
    }

    /// All of them, in their order.
    mutating func sorted() -> [Item] {
        if !isSorted {
            items.sort { $0.sequence < $1.sequence }
            isSorted = true
        }
        return items
    }

    /// The first place behind a sequence, among items that are sorted.
    static func index(behind sequence: Int, in items: [Item]) -> Int {
        firstIndex(in: items) { $0 > sequence }
    }

    /// The first place of a sequence or behind it, among items that are sorted.
    static func index(notBefore sequence: Int, in items: [Item]) -> Int {
        firstIndex(in: items) { $0 >= sequence }
    }

    /// - Parameter isFound: False up to some sequence, and true from there on.
    private static func firstIndex(in items: [Item], where isFound: (Int) -> Bool) -> Int {
        var (low, high) = (0, items.count)
        while low < high {
            let middle = (low + high) / 2
            if isFound(items[middle].sequence) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
