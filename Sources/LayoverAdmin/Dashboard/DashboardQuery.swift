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

    /// - Throws: `AdminProblem` with a sentence for people.
    init(_ query: String?) throws(AdminProblem) {
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

/// A part of the pending set that the dashboard shows by itself.
enum DashboardTab: String, CaseIterable, Sendable {
    case waiting, decision, held, recent, tickets, cache, incidents

    /// The entries of the tab; nil if it shows something else.
    var filter: EntryFilter? {
        var filter = EntryFilter()
        switch self {
        case .waiting: filter.states = [.waiting, .attempting]
        case .decision: filter.states = [.undecided]
        case .held: filter.states = [.held]
        case .recent: filter.states = Set(EntryState.allCases.filter(\.isFinal))
        case .tickets:
            filter.states = Set(EntryState.allCases)
            filter.isTicket = true
        case .cache, .incidents: return nil
        }
        return filter
    }

    /// The tab's name for people.
    var title: String {
        switch self {
        case .waiting: "Waiting"
        case .decision: "Needs decision"
        case .held: "Held"
        case .recent: "Recent"
        case .tickets: "Tickets"
        case .cache: "Cache"
        case .incidents: "Incidents"
        }
    }

    /// The order of the entries: the longest wait first, or on the tab `recent` the newest end.
    var sort: EntrySort { self == .recent ? EntrySort(by: .endedAt, isDescending: true) : .standard }
}

/// The filter that a person types: words as `host:shop.example`, and text to look for.
///
/// `host:`, `state:`, `method:`, `lane:` and `incident:` take one value, in quotation marks if it has spaces. All other words
/// together are the text.
enum DashboardFilter {
    private static let names = ["host", "state", "method", "lane", "incident"]

    /// - Parameter filter: What the tab shows; a filter can only make it less.
    static func parse(_ text: String, in filter: EntryFilter) throws(AdminProblem) -> EntryFilter {
        var filter = filter
        var (free, given): ([String], Set<String>) = ([], [])
        for word in try words(text) {
            guard let colon = word.firstIndex(of: ":"), !word.hasPrefix("http://"), !word.hasPrefix("https://"),
                word[..<colon].allSatisfy(\.isLetter), colon > word.startIndex
            else {
                free.append(word)
                continue
            }
            let (name, value) = (word[..<colon].lowercased(), String(word[word.index(after: colon)...]))
            guard names.contains(name) else {
                throw .badParameter("There is no '\(name):'. Use \(names.map { $0 + ":" }.joined(separator: " ")) or plain text.")
            }
            guard !value.isEmpty else { throw .badParameter("'\(name):' needs a value, such as \(name):\(example(name)).") }
            guard given.insert(name).inserted else { throw .badParameter("'\(name):' is given twice.") }
            try set(name, value, in: &filter)
        }
        if !free.isEmpty { filter.text = free.joined(separator: " ") }
        return filter
    }

    private static func set(_ name: String, _ value: String, in filter: inout EntryFilter) throws(AdminProblem) {
        switch name {
        case "host": filter.host = value
        case "method": filter.method = value
        case "lane": filter.lane = value
        case "incident": filter.incident = try EntryFilter.incident(value)
        default: filter.states.formIntersection(try StateNames.states(StateNames.list(value)))
        }
    }

    private static func example(_ name: String) -> String {
        switch name {
        case "host": "shop.example"
        case "method": "POST"
        case "lane": "orders"
        case "state": "waiting"
        default: "…"
        }
    }

    /// The words between spaces; quotation marks keep spaces together.
    private static func words(_ text: String) throws(AdminProblem) -> [String] {
        var (words, word, isQuoted): ([String], String, Bool) = ([], "", false)
        for character in text {
            switch character {
            case "\"": isQuoted.toggle()
            case " " where !isQuoted:
                if !word.isEmpty { words.append(word) }
                word = ""
            default: word.append(character)
            }
        }
        guard !isQuoted else { throw .badParameter("A quotation mark is not closed.") }
        return word.isEmpty ? words : words + [word]
    }
}
