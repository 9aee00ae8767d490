import LayoverCore

/// The names of states in filters.
enum StateNames {
    /// Reads names; those of states that nothing leads to yet are known and match nothing.
    static func states(_ names: some Sequence<some StringProtocol>) throws(Problem) -> Set<EntryState> {
        var states: Set<EntryState> = []
        for name in names {
            let name = name.drop { $0 == " " }
            if let state = EntryState(rawValue: String(name)) {
                states.insert(state)
            } else if !StateCounts.liveNames.contains(String(name)) {
                throw .badParameter("'\(name)' is not a state.")
            }
        }
        return states
    }
}
