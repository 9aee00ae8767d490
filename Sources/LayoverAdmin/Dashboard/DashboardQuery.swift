import LayoverCore

/// What the dashboard is asked to show: the query of its URL, the same for the page and for its snapshots, so that a link, a
/// reload and the Back button show the same.
struct DashboardQuery: Sendable {
    /// The names of the parameters. Only the scripts of the page use `id`.
    static let parameterNames: Set<String> = ["tab", "q", "sort", "cursor", "id"]

    /// Rows at a time. More make the page slow; the rest is reached by the filter and by "Next".
    static let rowCountMax = 200

    var tab = DashboardTab.waiting
    /// As typed.
    var text = ""
    /// The query for the entries of the tab. Nil: the tab has no entries.
    var pending: PendingQuery?

    /// - Throws: `Problem` with a sentence for people.
    init(_ query: String?) throws(Problem) {
        let parameters = try QueryParameters(query, known: Self.parameterNames)
        if let name = parameters["tab"] {
            guard let tab = DashboardTab(rawValue: name) else { throw .badParameter("There is no tab '\(name)'.") }
            self.tab = tab
        }
        text = parameters["q"] ?? ""
        guard let shown = tab.filter else { return }
        var pending = PendingQuery()
        pending.limit = Self.rowCountMax
        pending.sort = tab.sort
        pending.filter = try DashboardFilter.parse(text, in: shown)
        if let name = parameters["sort"] {
            guard let sort = EntrySort(name) else { throw .badParameter("The list cannot be sorted by '\(name)'.") }
            pending.sort = sort
        }
        if let text = parameters["cursor"] {
            guard let cursor = EntryCursor(text), cursor.sort == pending.sort else {
                throw .badParameter("This page of the list does not exist.")
            }
            pending.cursor = cursor
        }
        self.pending = pending
    }

    /// The first tab as it is when nothing is asked for.
    init() {
        var pending = PendingQuery()
        pending.limit = Self.rowCountMax
        pending.filter = tab.filter ?? EntryFilter()
        self.pending = pending
    }
}
