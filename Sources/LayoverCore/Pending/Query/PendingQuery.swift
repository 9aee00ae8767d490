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
        for entry in entries where matcher.matches(entry) { selection.add(entry) }
        return selection.page()
    }
}

/// One page of a list.
package struct PendingPage: Sendable {
    package var entries: [Entry]
    /// Nil: there is no more.
    package var nextCursor: EntryCursor?
}
