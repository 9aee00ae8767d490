/// Which entries a list or a command is about. Nil: any.
package struct EntryFilter: Sendable, Hashable {
    /// Default: all live states. Empty matches nothing.
    package var states = Set(EntryState.live)
    /// A host as the entry shows it, or with its port (`host:port`). Letters of either case match.
    package var host: String?
    /// A method token. Letters of either case match.
    package var method: String?
    /// The name of a lane, exactly as the entry shows it.
    package var lane: String?
    /// A part of the host, path, id or error, whatever the case of its letters.
    package var text: String?

    /// Only members of this incident.
    package var incident: IncidentID?

    /// Only tickets, or only what is none.
    package var isTicket: Bool?

    /// Only those that were parked before; nil: all.
    package var parkedBefore: Timestamp?

    package init() {}

    /// Whether final tickets that only the store has may match.
    package var mayMatchStored: Bool { states.contains(where: \.isFinal) && incident == nil && isTicket != false }

    /// The entries that match, in their order.
    ///
    /// - Parameter naming: By what ids they are shown. Default: their own, which is for tests only.
    package func matching(_ entries: some Sequence<Entry>, naming: EntryNaming = .plain) -> [Entry] {
        let matcher = EntryMatcher(self, naming)
        return entries.filter(matcher.matches)
    }
}

/// A filter made ready to be asked of many entries.
package struct EntryMatcher {
    private let filter: EntryFilter
    private let host: FoldedText?
    private let method: FoldedText?
    private let text: EntrySearch?

    package init(_ filter: EntryFilter, _ naming: EntryNaming) {
        self.filter = filter
        host = filter.host.map(FoldedText.init)
        method = filter.method.map(FoldedText.init)
        text = filter.text.map { EntrySearch(SearchedPart($0), naming) }
    }

    /// What costs least is asked first, and the entry is not copied into a closure.
    package func matches(_ entry: some ListedEntry) -> Bool {
        guard filter.states.contains(entry.state) else { return false }
        if let bound = filter.parkedBefore, entry.parkedAt >= bound { return false }
        if let incident = filter.incident, incident != entry.openIncident { return false }
        if let isTicket = filter.isTicket, isTicket != entry.isTicket { return false }
        if let method, !method.isSame(as: entry.method) { return false }
        if let host, !isHost(host, of: entry.origin) { return false }
        if let lane = filter.lane, lane != entry.shownLane { return false }
        if let text { return entry.isFound(by: text) }
        return true
    }

    /// By any of the ways to name it.
    private func isHost(_ host: FoldedText, of origin: Origin) -> Bool {
        if host.isSame(as: origin.host) { return true }
        // The others have a port or the brackets of an address.
        guard host.text.utf8.contains(UInt8(ascii: ":")) else { return false }
        return host.isSame(as: origin.hostField) || host.isSame(as: origin.authority)
    }
}

/// The entries that one command is about, if it does not name them one by one.
package enum EntrySelection: Sendable, Hashable {
    case filter(EntryFilter)
    /// Every live entry.
    case all

    /// Which of the live entries it selects, in the order in which they were parked.
    ///
    /// - Parameter naming: By what ids they are shown. Default: their own, which is for tests only.
    package func matched(in entries: [Entry], naming: EntryNaming = .plain) -> [EntryID] {
        switch self {
        case .filter(let filter): return Self.inOrder(filter.matching(entries, naming: naming))
        case .all: return Self.inOrder(entries)
        }
    }

    /// How many it would select besides, if it did not leave out those that were parked since; nil: it does not.
    package func laterCount(in entries: [Entry], naming: EntryNaming = .plain) -> Int? {
        guard case .filter(var filter) = self, let bound = filter.parkedBefore else { return nil }
        filter.parkedBefore = nil
        return filter.matching(entries.lazy.filter { $0.parkedAt >= bound }, naming: naming).count
    }

    private static func inOrder(_ entries: [Entry]) -> [EntryID] {
        entries.sorted { $0.sequence < $1.sequence }.map(\.id)
    }
}
