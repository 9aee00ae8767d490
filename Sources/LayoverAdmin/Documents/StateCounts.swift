import LayoverCore

/// How many entries are in each live state of the contract; those that nothing leads to yet count 0.
enum StateCounts {
    /// In the contract's order.
    static let liveNames = ["waiting", "attempting", "held", "undecided"]

    static func document(_ counts: [EntryState: Int]) -> [String: Int] {
        var document = Dictionary(uniqueKeysWithValues: liveNames.map { ($0, 0) })
        for (state, count) in counts where !state.isFinal { document[state.rawValue] = count }
        return document
    }
}
