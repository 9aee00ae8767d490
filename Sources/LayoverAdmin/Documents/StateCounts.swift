import LayoverCore

/// How many entries are in each live state of the contract.
enum StateCounts {
    /// In the contract's order.
    static let liveNames = EntryState.live.map(\.rawValue)

    static func document(_ counts: [EntryState: Int]) -> [String: Int] {
        Dictionary(uniqueKeysWithValues: EntryState.live.map { ($0.rawValue, counts[$0] ?? 0) })
    }
}
