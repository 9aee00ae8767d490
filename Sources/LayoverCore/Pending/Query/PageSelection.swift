import LayoverText

/// The first entries of a page, found while all are passed by.
///
/// Only as many are kept and sorted as the page needs, a few times over: of 100 000 entries most are behind the last one of the page,
/// which one comparison tells.
package struct PageSelection {
    private let sort: EntrySort
    private let cursor: EntryCursor?
    private let naming: EntryNaming
    /// Nil: all.
    private let limit: Int?
    private var kept: [ListedPlace] = []
    /// The place of the last one that the page may need; nil while there are too few.
    private var last: EntrySort.Place?

    package init(_ query: PendingQuery, _ naming: EntryNaming) {
        sort = query.sort
        cursor = query.cursor
        limit = query.limit.flatMap { $0 > 0 ? $0 : nil }
        self.naming = naming
    }

    package mutating func add(_ entry: some ListedEntry) {
        let place = sort.place(of: entry, naming)
        if let last, !sort.isBefore(place, last) { return }
        if let cursor, !sort.isBefore(cursor.place, place) { return }
        kept.append(ListedPlace(id: entry.id, place: place))
        // One more than is shown, to know whether there is another page.
        if let limit, kept.count > 4 * (limit + 1) { cut(to: limit + 1) }
    }

    /// Whether the page is known, if entries are added in its order.
    package var isFull: Bool { limit.map { kept.count > $0 } ?? false }

    private mutating func cut(to count: Int) {
        kept.sort { sort.isBefore($0.place, $1.place) }
        kept.removeLast(max(0, kept.count - count))
        last = kept.last?.place
    }

    /// The places of the page in their order, and one more if there is another page.
    package consuming func places() -> [ListedPlace] {
        cut(to: limit.map { $0 + 1 } ?? kept.count)
        return kept
    }
}

/// An entry and where it stands in a sorted list.
package struct ListedPlace: Sendable, Hashable {
    package var id: EntryID
    package var place: EntrySort.Place

    package init(id: EntryID, place: EntrySort.Place) {
        self.id = id
        self.place = place
    }
}

/// A position in a sorted list: the next page begins after it, whatever has come and gone since.
package struct EntryCursor: Sendable, Hashable, CustomStringConvertible {
    /// A cursor is only good for the order it was made in.
    package let sort: EntrySort
    package let place: EntrySort.Place

    package init(after place: EntrySort.Place, in sort: EntrySort) {
        self.sort = sort
        self.place = place
    }

    /// Reads what `description` wrote; nil for any other text.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let sort = EntrySort(String(parts[0])), let key = Self.key(parts[1], of: sort.field),
            let sequence = Int(parts[2])
        else { return nil }
        // Nothing but the sequence counts there, whatever a cursor says.
        self.init(after: EntrySort.Place(key: sort.field == .parkedAt ? .number(0) : key, sequence: sequence), in: sort)
    }

    /// Letters, digits, `-` and `.` only, so that it needs no escaping in a URL. Opaque to clients.
    package var description: String {
        let key =
            switch place.key {
            case .number(let number): "n\(number)"
            case .text(let text): "t" + Hexadecimal.text(of: text.utf8)
            case .url(let url): "t" + Hexadecimal.text(of: url.shown.utf8)
            }
        return "\(sort).\(key).\(place.sequence)"
    }

    private static func key(_ text: Substring, of field: EntrySort.Field) -> EntrySort.Key? {
        switch text.first {
        case "n": return Int64(text.dropFirst()).map { .number($0) }
        case "t":
            guard let bytes = Hexadecimal.bytes(text.dropFirst()) else { return nil }
            return String(validating: bytes, as: UTF8.self).map { field == .url ? .url(ListedURL($0)) : .text($0) }
        default: return nil
        }
    }
}

extension EntryTable {
    /// The first places of the live entries in the order of their arrival, one more than the page has. It costs no more than what it
    /// passes over.
    mutating func places(of query: PendingQuery, limit: Int, naming: EntryNaming) -> [ListedPlace] {
        let items = inOrder()
        let matcher = EntryMatcher(query.filter, naming)
        let isDescending = query.sort.isDescending
        var index = isDescending ? items.count - 1 : 0
        if let cursor = query.cursor?.place.sequence {
            // Descending goes on with what is before the cursor itself. A cursor comes from outside: no sum is made of it.
            index =
                isDescending
                ? ArrivalOrder.index(notBefore: cursor, in: items) - 1 : ArrivalOrder.index(behind: cursor, in: items)
        }
        var found: [ListedPlace] = []
        while items.indices.contains(index), found.count <= limit {
            defer { index += isDescending ? -1 : 1 }
            guard let entry = self[items[index].id], entry.sequence == items[index].sequence, matcher.matches(entry)
            else { continue }
            found.append(ListedPlace(id: entry.id, place: query.sort.place(of: entry, naming)))
        }
        return found
    }

    /// Whether most entries match, as far as that is seen without looking at them.
    func isMatchedByMost(_ filter: EntryFilter) -> Bool {
        guard filter.text == nil, filter.host == nil, filter.method == nil, filter.lane == nil, filter.incident == nil,
            filter.isTicket == nil
        else { return false }
        return filter.states.reduce(0) { $0 + (stateCounts[$1] ?? 0) } > count / 2
    }
}
