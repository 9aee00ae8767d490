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
        var found = filter.matching(entries, naming: naming).map { (entry: $0, place: sort.place(of: $0, naming)) }
        if let cursor { found.removeAll { !sort.isBefore(cursor.place, $0.place) } }
        found.sort { sort.isBefore($0.place, $1.place) }
        guard let limit, found.count > limit, limit > 0 else {
            return PendingPage(entries: found.map(\.entry), nextCursor: nil)
        }
        return PendingPage(
            entries: found.prefix(limit).map(\.entry),
            nextCursor: EntryCursor(after: found[limit - 1].place, in: sort))
    }
}

/// One page of a list.
package struct PendingPage: Sendable {
    package var entries: [Entry]
    /// Nil: there is no more.
    package var nextCursor: EntryCursor?
}
