/// An incident and its members, as the pending set keeps them.
struct IncidentLine: Sendable {
    let id: IncidentID
    let scope: Incident.Scope
    var since: Timestamp
    var cause: Incident.Cause?
    var members: Set<EntryID> = []
    /// Whether a member under `onExhausted: ask` has used up its attempts: then nobody of that rule goes on
    /// by itself, so that people are asked once and not once for each request.
    var isExhausted = false
    /// Whether changes wait to be told.
    var isDirty = false
}
