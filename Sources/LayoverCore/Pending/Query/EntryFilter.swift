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
    private let text: EntrySearch?

    init(_ filter: EntryFilter, _ naming: EntryNaming) {
        self.filter = filter
        host = filter.host.map(FoldedText.init)
        method = filter.method.map(FoldedText.init)
        text = filter.text.map { EntrySearch(SearchedPart($0), naming) }
    }

    func matches(_ entry: Entry) -> Bool {
        filter.states.contains(entry.state) && filter.parkedBefore.map { entry.parkedAt < $0 } != false
            && (filter.incident.map { $0 == entry.incident && !entry.state.isFinal } ?? true)
            && (filter.isTicket.map { $0 == (entry.ticket != nil) } ?? true)
            && (method.map { filter.method == entry.method || $0 == FoldedText(entry.method) } ?? true)
            && (host.map { host in entry.origin.spellings.contains { FoldedText($0) == host } } ?? true)
            && (filter.lane.map { $0 == entry.shownLane } ?? true)
            && (text.map { $0.finds(entry) } ?? true)
    }
}

extension Origin {
    /// The ways to name it in a filter.
    fileprivate var spellings: [String] { [host, hostField, authority] }
}

/// What `q` looks at: host, path, id and error.
///
/// Not the query of the URL: its values may be secrets, and a search would tell them. Nor the ids of tickets: who finds a part of
/// one finds the next letter too.
private struct EntrySearch {
    let part: SearchedPart
    let naming: EntryNaming

    init(_ part: SearchedPart, _ naming: EntryNaming) {
        self.part = part
        self.naming = naming
    }

    func finds(_ entry: Entry) -> Bool {
        if isIn(entry.origin) || isInPath(of: entry.url) { return true }
        if part.isHexadecimal, part.isIn(naming.shown(entry.id).description) { return true }
        guard let failure = entry.lastFailure else { return false }
        if part.isIn(failure.kind.rawValue) { return true }
        // What is not found in the text is not found in it when it is masked, unless it is the mask.
        guard part.isPartOfMask || part.isIn(failure.message) else { return false }
        return part.isIn(MaskedTicketIDs.text(failure.message))
    }

    private func isIn(_ origin: Origin) -> Bool {
        if part.isIn(origin.hostField) { return true }
        return InternationalName.readable(origin.host).map(part.isIn) ?? false
    }

    private func isInPath(of url: String) -> Bool {
        var url = url
        if let found = url.withUTF8({ TargetText.scanPath(of: $0, part.isIn) }) { return found }
        let path = MaskedTicketIDs.target(TargetText.path(of: url))
        return part.isIn(path) || (TargetText.percentDecoded(path).map(part.isIn) ?? false)
    }
}

extension Entry {
    /// The name of its lane for lists: a lane by path holds a token of a target, whose ticket id must not be shown. Two lanes
    /// may be shown by one name.
    package var shownLane: String? { lane.map(MaskedTicketIDs.target) }
}
