import LayoverCore

/// How entries are shown to one caller.
///
/// The id of a ticket is a key: it opens the stored response. So entries are shown by another id here, and the ticket's id is
/// shown only to callers that may see bodies too (`AdminAccess`).
struct EntryView: Sendable {
    let wall: WallTime
    let naming: EntryNaming
    let showsTickets: Bool
    /// Whether the caller may give commands; otherwise none are named.
    var mayCommand = true

    /// The id by which an entry is shown.
    func shown(_ id: EntryID) -> String { naming.shown(id).description }

    /// The id of the ticket for the client of an entry.
    func ticket(_ id: EntryID) -> String { showsTickets ? id.description : MaskedURL.mask }
}
