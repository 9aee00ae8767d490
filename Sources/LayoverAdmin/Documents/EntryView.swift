import LayoverCore

/// How entries are shown to one caller.
///
/// The id of a ticket is a key: it opens the stored answer. So entries are shown by another id here, and the ticket's id is
/// shown only to callers that may see bodies too (`BodyGuard`).
struct EntryView: Sendable {
    let wall: WallTime
    let naming: EntryNaming
    let showsTickets: Bool

    /// By what id an entry is shown, its own or one that it names.
    func shown(_ id: EntryID) -> String { naming.shown(id).description }

    /// The id by which the client of an entry asks for its ticket.
    func ticket(_ id: EntryID) -> String { showsTickets ? id.description : MaskedURL.mask }
}
