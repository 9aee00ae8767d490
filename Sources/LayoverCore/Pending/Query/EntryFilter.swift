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

    /// The entries that match, in their order.
    ///
    /// - Parameter naming: By what ids they are shown. Default: their own, which is for tests only.
    package func matching(_ entries: some Sequence<Entry>, naming: EntryNaming = .plain) -> [Entry] {
        let matcher = EntryMatcher(self, naming)
        return entries.filter(matcher.matches)
    }
}

/// A filter made ready to be asked of many entries.
struct EntryMatcher {
    private let filter: EntryFilter
    private let host: FoldedText?
    private let method: FoldedText?
    private let text: FoldedText?
    private let naming: EntryNaming

    init(_ filter: EntryFilter, _ naming: EntryNaming) {
        self.filter = filter
        self.naming = naming
        host = filter.host.map(FoldedText.init)
        method = filter.method.map(FoldedText.init)
        text = filter.text.map(FoldedText.init)
    }

    func matches(_ entry: Entry) -> Bool {
        filter.states.contains(entry.state) && filter.parkedBefore.map { entry.parkedAt < $0 } != false
            && (filter.incident.map { $0 == entry.incident && !entry.state.isFinal } ?? true)
            && (filter.isTicket.map { $0 == (entry.ticket != nil) } ?? true)
            && (method.map { $0 == FoldedText(entry.method) } ?? true)
            && (host.map { host in entry.origin.spellings.contains { FoldedText($0) == host } } ?? true)
            && (filter.lane.map { $0 == entry.shownLane } ?? true)
            && (text.map { text in entry.searchable(naming).contains { FoldedText($0).contains(text) } } ?? true)
    }
}

extension Origin {
    /// The ways to name it in a filter.
    fileprivate var spellings: [String] { [host, hostField, authority] }
}

extension Entry {
    /// What `q` looks at. Not the query of the URL: its values may be secrets, and a search would tell them.
    fileprivate func searchable(_ naming: EntryNaming) -> [String] {
        // Nor the ids of tickets: who finds a part of one finds the next letter too.
        let path = MaskedTicketIDs.target(TargetText.path(of: url))
        var texts = [origin.hostField, path, naming.shown(id).description]
        if let decoded = TargetText.percentDecoded(path) { texts.append(decoded) }
        if let readable = InternationalName.readable(origin.host) { texts.append(readable) }
        if let lastFailure { texts += [MaskedTicketIDs.text(lastFailure.message), lastFailure.kind.rawValue] }
        return texts
    }
}

extension Entry {
    /// The name of its lane for lists: a lane by path holds a token of a target, whose ticket id must not be shown. Two lanes
    /// may be shown by one name.
    package var shownLane: String? { lane.map(MaskedTicketIDs.target) }
}
