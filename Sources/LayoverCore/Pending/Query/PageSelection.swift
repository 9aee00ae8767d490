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
