import LayoverCore
import LayoverText

/// The body of a command for many entries.
struct BulkRequest: Decodable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case ids, filter, all, dryRun, reason
    }

    /// Most ids in one command.
    static let idCountMax = 1000

    /// Exactly one of these three.
    var ids: [String]?
    var filter: FilterRequest?
    var all: Bool?
    var isDryRun: Bool
    var reason: String?

    init(from decoder: any Decoder) throws {
        try decoder.refuseKeys(otherThan: CodingKeys.self)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        ids = try container.given([String].self, forKey: .ids)
        filter = try container.given(FilterRequest.self, forKey: .filter)
        all = try container.given(Bool.self, forKey: .all)
        isDryRun = try container.given(Bool.self, forKey: .dryRun) ?? false
        reason = try container.decodeReason(forKey: .reason)
    }

    /// By what it selects.
    var names: String { (isDryRun ? "dry run, " : "") + (ids != nil ? "ids" : filter != nil ? "filter" : "all") }

    /// The selection in the body, if it has no ids.
    func selection(_ wall: WallTime) throws(AdminProblem) -> EntrySelection {
        switch (filter, all) {
        case (let filter?, nil):
            guard !filter.isEmpty else {
                throw .malformedBody("'filter' is empty; send {\"all\":true} to select all requests.")
            }
            return .filter(try filter.filter(wall))
        case (nil, true): return .all
        default: throw .malformedBody("Send one of 'ids', 'filter' and \"all\": true.")
        }
    }

    /// The ids as given; nil if the body selects otherwise.
    func namedIDs() throws(AdminProblem) -> [String]? {
        guard let ids else { return nil }
        guard filter == nil, all == nil else {
            throw .malformedBody("Send one of 'ids', 'filter' and \"all\": true.")
        }
        guard ids.count <= Self.idCountMax else {
            throw .malformedBody("'ids' may list at most \(Self.idCountMax) ids.")
        }
        return ids
    }
}

/// A filter in a body: the same names as in the query of a list.
struct FilterRequest: Decodable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case state, host, method, lane, q, incident, ticket, parkedBefore
    }

    var states: [String]?
    var host: String?
    var method: String?
    var lane: String?
    var text: String?
    var incident: String?
    var isTicket: Bool?
    /// So that only what a person was shown is meant, and not what came since.
    var parkedBefore: String?
    /// Whether none of them is given.
    let isEmpty: Bool

    init(from decoder: any Decoder) throws {
        try decoder.refuseKeys(otherThan: CodingKeys.self)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        isEmpty = container.allKeys.isEmpty
        if let list = try? container.given([String].self, forKey: .state) {
            states = list
        } else {
            states = try container.given(String.self, forKey: .state).map(StateNames.list)
        }
        host = try container.given(String.self, forKey: .host)
        method = try container.given(String.self, forKey: .method)
        lane = try container.given(String.self, forKey: .lane)
        text = try container.given(String.self, forKey: .q)
        incident = try container.given(String.self, forKey: .incident)
        isTicket = try container.given(Bool.self, forKey: .ticket)
        parkedBefore = try container.given(String.self, forKey: .parkedBefore)
    }

    func filter(_ wall: WallTime) throws(AdminProblem) -> EntryFilter {
        var filter = EntryFilter()
        if let states { filter.states = try StateNames.states(states) }
        filter.host = host
        filter.method = method
        filter.lane = lane
        filter.text = text
        filter.isTicket = isTicket
        if let incident { filter.incident = try EntryFilter.incident(incident) }
        if let parkedBefore {
            guard let nanoseconds = RFC3339.nanoseconds(of: parkedBefore) else {
                throw .malformedBody("'parkedBefore' must be an RFC 3339 time such as 2026-11-21T03:52:00Z.")
            }
            filter.parkedBefore = wall.timestamp(ofNanoseconds: nanoseconds)
        }
        return filter
    }
}
