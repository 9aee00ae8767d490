import LayoverCore

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
