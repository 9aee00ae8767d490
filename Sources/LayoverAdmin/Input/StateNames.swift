import LayoverCore

/// The names of states in filters.
enum StateNames {
    /// The names in a list with commas. Spaces before them do not matter; there is a name between any two commas.
    static func list(_ text: String) -> [String] {
        text.split(separator: ",", omittingEmptySubsequences: false).map { String($0.drop { $0 == " " }) }
    }

    static func states(_ names: some Sequence<some StringProtocol>) throws(Problem) -> Set<EntryState> {
        var states: Set<EntryState> = []
        for name in names {
            guard let state = EntryState(rawValue: String(name)) else {
                throw .badParameter("Unknown state '\(name)'.")
            }
            states.insert(state)
        }
        return states
    }
}
