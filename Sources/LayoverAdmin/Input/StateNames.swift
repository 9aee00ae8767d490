import LayoverCore

/// The names of states in filters.
enum StateNames {
    static func states(_ names: some Sequence<some StringProtocol>) throws(Problem) -> Set<EntryState> {
        var states: Set<EntryState> = []
        for name in names {
            let name = name.drop { $0 == " " }
            guard let state = EntryState(rawValue: String(name)) else {
                throw .badParameter("'\(name)' is not a state.")
            }
            states.insert(state)
        }
        return states
    }
}
