/// What a list asks of an entry: of one in memory, or of a final ticket that only the store has.
package protocol ListedEntry {
    var id: EntryID { get }
    var state: EntryState { get }
    var method: String { get }
    var url: String { get }
    var origin: Origin { get }
    var route: String? { get }
    /// The name of the policy in force.
    var policyName: String { get }
    var priority: Int { get }
    var lane: String? { get }
    var attemptCount: Int { get }
    var requestByteCount: Int { get }
    var createdAt: Timestamp { get }
    var parkedAt: Timestamp { get }
    var expiresAt: Timestamp { get }
    var endedAt: Timestamp? { get }
    /// When it goes by itself; nil: never.
    var nextAttemptAt: Timestamp? { get }
    /// The outage or decision it is a member of.
    var openIncident: IncidentID? { get }
    var isTicket: Bool { get }
    /// Order of arrival.
    var sequence: Int { get }

    /// Whether host, path, id or error have what is searched.
    func isFound(by search: EntrySearch) -> Bool
}

extension ListedEntry {
    /// The name of its lane for lists: a lane by path holds a token of a target, whose ticket id must not be shown. Two lanes
    /// may be shown by one name.
    package var shownLane: String? { lane.map(MaskedTicketIDs.target) }
}

extension Entry: ListedEntry {
    package var policyName: String { policy.name }
    package var isTicket: Bool { ticket != nil }
    package var openIncident: IncidentID? { state.isFinal ? nil : incident }
    package func isFound(by search: EntrySearch) -> Bool { search.finds(self) }
}

extension TicketRecord: ListedEntry {
    package var policyName: String { policy }
    package var isTicket: Bool { true }
    package var openIncident: IncidentID? { nil }
    package var nextAttemptAt: Timestamp? { nil }
    package func isFound(by search: EntrySearch) -> Bool { search.finds(self) }
}
