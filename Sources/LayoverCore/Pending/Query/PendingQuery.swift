/// A question for a list of entries: which, in what order, how many, from where on.
package struct PendingQuery: Sendable, Hashable {
    /// Most entries on one page.
    package static let pageCountMax = 1000

    package var filter = EntryFilter()
    /// Default: newest last.
    package var sort = EntrySort.standard
    /// Entries on one page, 1 to 1 000; nil means all. Default: 100.
    package var limit: Int? = 100
    /// Where the page before ended. Its order is the order of this query.
    package var cursor: EntryCursor?

    package init() {}

    /// Answers the question.
    ///
    /// - Parameters:
    ///   - entries: Candidates in any order.
    ///   - naming: By what ids they are shown. Default: their own, which is for tests only.
    package func page(of entries: some Sequence<Entry>, naming: EntryNaming = .plain) -> PendingPage {
        let matcher = EntryMatcher(filter, naming)
        var selection = PageSelection(self, naming)
        var known: [EntryID: Entry] = [:]
        for entry in entries where matcher.matches(entry) {
            selection.add(entry)
            known[entry.id] = entry
        }
        return page(of: selection.places()) { known[$0] }
    }

    /// The first places as a page.
    ///
    /// - Parameters:
    ///   - places: Those of the page in their order, and one more if there is another page.
    ///   - entry: An entry by its id.
    func page(of places: [ListedPlace], _ entry: (EntryID) -> Entry?) -> PendingPage {
        let (shown, cursor) = cut(places)
        return PendingPage(entries: shown.compactMap { entry($0.id) }, nextCursor: cursor)
    }

    /// Cuts off what is not on this page.
    ///
    /// - Returns: The places of the page, and where the next one begins; nil: there is none.
    package func cut(_ places: [ListedPlace]) -> (places: ArraySlice<ListedPlace>, nextCursor: EntryCursor?) {
        guard let limit, places.count > limit else { return (places[...], nil) }
        let shown = places.prefix(limit)
        return (shown, shown.last.map { EntryCursor(after: $0.place, in: sort) })
    }

    /// The same question with other times: those of a store, or of this boot.
    package func shifted(by clock: TicketClock) -> PendingQuery {
        var query = self
        query.filter.parkedBefore = filter.parkedBefore.map { $0 + .nanoseconds(clock.offset) }
        if let cursor { query.cursor = EntryCursor(after: sort.shifted(cursor.place, by: clock), in: sort) }
        return query
    }

    /// The places that the question found, with other times.
    package func shifted(_ places: [ListedPlace], by clock: TicketClock) -> [ListedPlace] {
        places.map { ListedPlace(id: $0.id, place: sort.shifted($0.place, by: clock)) }
    }

    /// What two sources found, in one order. An entry that both have stands where the first one has it.
    package func merge(_ one: [ListedPlace], _ other: [ListedPlace]) -> [ListedPlace] {
        let known = Set(one.map(\.id))
        var merged: [ListedPlace] = []
        merged.reserveCapacity(one.count + other.count)
        var rest = one[...]
        for place in other where !known.contains(place.id) {
            while let next = rest.first, !sort.isBefore(place.place, next.place) {
                merged.append(next)
                rest = rest.dropFirst()
            }
            merged.append(place)
        }
        return merged + rest
    }
}

/// One page of a list.
package struct PendingPage: Sendable {
    package var entries: [Entry]
    /// Nil: there is no more.
    package var nextCursor: EntryCursor?
}
