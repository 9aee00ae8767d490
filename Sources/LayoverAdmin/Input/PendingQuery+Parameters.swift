import LayoverCore

extension PendingQuery {
    static let parameterNames: Set<String> = ["state", "host", "method", "lane", "q", "incident", "ticket", "sort", "limit", "cursor"]

    /// - Parameter isStream: Whether the response is streamed; then there is no limit unless one is given.
    init(_ parameters: QueryParameters, isStream: Bool) throws(AdminProblem) {
        self.init()
        filter = try EntryFilter(parameters)
        if let text = parameters.given("sort") {
            guard let sort = EntrySort(text) else {
                let names = EntrySort.Field.allCases.map(\.rawValue).joined(separator: ", ")
                throw .badParameter("'sort' must be one of \(names), with '-' before it for descending.")
            }
            self.sort = sort
        }
        limit = try parameters.limit() ?? (isStream ? nil : limit)
        if let text = parameters["cursor"] {
            guard let cursor = EntryCursor(text), cursor.sort == sort else {
                throw .badParameter("'cursor' must be a nextCursor of this list with the same 'sort'.")
            }
            self.cursor = cursor
        }
    }
}

extension EntryFilter {
    fileprivate init(_ parameters: QueryParameters) throws(AdminProblem) {
        self.init()
        if let names = parameters["state"] { states = try StateNames.states(StateNames.list(names)) }
        host = parameters["host"]
        method = parameters["method"]
        lane = parameters["lane"]
        text = parameters["q"]
        if let id = parameters["incident"] { incident = try Self.incident(id) }
        switch parameters["ticket"] {
        case nil: break
        case "true": isTicket = true
        case "false": isTicket = false
        default: throw .badParameter("'ticket' must be true or false.")
        }
    }
}

extension EntryFilter {
    static func incident(_ text: String) throws(AdminProblem) -> IncidentID {
        guard let id = IncidentID(text) else { throw .badParameter("'\(text.prefix(100))' is no id of an incident.") }
        return id
    }
}

/// The names of states in filters.
enum StateNames {
    /// The names in a list with commas. Spaces before them do not matter; there is a name between any two commas.
    static func list(_ text: String) -> [String] {
        text.split(separator: ",", omittingEmptySubsequences: false).map { String($0.drop { $0 == " " }) }
    }

    static func states(_ names: some Sequence<some StringProtocol>) throws(AdminProblem) -> Set<EntryState> {
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
