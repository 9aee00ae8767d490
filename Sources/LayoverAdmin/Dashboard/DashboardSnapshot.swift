import LayoverCore

/// All that the dashboard draws, at one instant: it is written into the page, and fetched again after events.
struct DashboardSnapshot: Codable, Sendable {
    /// The filter of the list, in the form that commands for many entries take.
    struct Filter: Codable, Sendable {
        var state: [String]
        var host: String?
        var method: String?
        var lane: String?
        var q: String?
        var incident: String?
        var ticket: Bool?
    }

    /// The clock of the server: countdowns and "all that was shown" go by it, and not by the clock of the browser.
    var now: String
    /// The event stream continues after this one, so that it need not begin with a snapshot of all entries.
    var lastEventId: String
    var tab: String
    /// What can be done with all entries of the list; null where it has none.
    @OrNull var filter: Filter?
    var incidents: [IncidentDocument]
    /// Outages that are only played.
    var rehearsals: [RehearsalDocument]
    /// Of the whole set, whatever the filter.
    var counts: [String: Int]
    var data: [EntryDocument]
    @OrNull var nextCursor: String?
    var reachability: ReachabilityDocument
    var tunnels: StatusDocument.Tunnels
    /// What the caller may do.
    var role: AdminRole
    /// Whether the caller is a browser that has logged in, and so can log out.
    var isLoggedIn: Bool
    /// URLs of the proxy.
    var proxy: [String]
    /// Why the filter could not be read; the list is then that of the tab without a filter.
    @OrNull var problem: String?
}

extension DashboardSnapshot.Filter {
    init(_ filter: EntryFilter) {
        self.init(
            state: EntryState.allCases.filter { filter.states.contains($0) }.map(\.rawValue), host: filter.host,
            method: filter.method, lane: filter.lane, q: filter.text, incident: filter.incident?.description,
            ticket: filter.isTicket)
    }
}

/// Words for the filter, and how many live entries each of them finds.
struct DashboardWords: Codable, Sendable {
    struct Word: Codable, Sendable {
        var word: String
        var count: Int
    }

    private static let countMax = 100

    var data: [Word]

    init(_ entries: some Sequence<Entry>) {
        var counts: [String: Int] = [:]
        for entry in entries {
            counts["host:" + entry.origin.host, default: 0] += 1
            counts["method:" + entry.method, default: 0] += 1
            counts["state:" + entry.state.rawValue, default: 0] += 1
            if let lane = entry.shownLane {
                counts["lane:" + (lane.contains(" ") ? "\"\(lane)\"" : lane), default: 0] += 1
            }
        }
        let words = counts.map { Word(word: $0.key, count: $0.value) }
        data = Array(words.sorted { ($1.count, $0.word) < ($0.count, $1.word) }.prefix(Self.countMax))
    }
}
