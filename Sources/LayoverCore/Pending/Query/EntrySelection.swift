/// The entries that one command is about.
package enum EntrySelection: Sendable, Hashable {
    /// Most ids in one command.
    package static let idCountMax = 1000

    /// Named one by one.
    case ids([EntryID])
    case filter(EntryFilter)
    /// Every live entry.
    case all

    /// Which of the live entries it names: those named one by one in the order given, others in the order in
    /// which they were parked.
    ///
    /// - Parameter naming: By what ids they are shown. Default: their own, which is for tests only.
    package func matched(in entries: [Entry], naming: EntryNaming = .plain) -> [EntryID] {
        switch self {
        case .ids(let ids):
            let known = Set(entries.map(\.id))
            return ids.filter { known.contains($0) }
        case .filter(let filter): return Self.inOrder(filter.matching(entries, naming: naming))
        case .all: return Self.inOrder(entries)
        }
    }

    /// How many it would name besides, if it did not leave out those that were parked since; nil: it does not.
    package func laterCount(in entries: [Entry], naming: EntryNaming = .plain) -> Int? {
        guard case .filter(var filter) = self, let bound = filter.parkedBefore else { return nil }
        filter.parkedBefore = nil
        return filter.matching(entries.lazy.filter { $0.parkedAt >= bound }, naming: naming).count
    }

    private static func inOrder(_ entries: [Entry]) -> [EntryID] {
        entries.sorted { $0.sequence < $1.sequence }.map(\.id)
    }
}
