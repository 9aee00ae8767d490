/// A request's wish to become a ticket.
struct TicketWish: Sendable, Equatable {
    /// How long the client waits on its connection first. Zero: not at all. Nil: as long as it may wait there.
    var wait: Duration?
    /// What is said of it in `Preference-Applied` (RFC 7240 section 3); empty where its route or mode wants it.
    var applied: String
    /// Whether the origin gets the preference, and the client a ticket only where there is no response
    /// (`async: "whenAway"`). Default: false.
    var isWhenAway = false

    /// Whether the origin does not get the preference, because it is honoured here.
    var isHonoured: Bool { !applied.isEmpty && !isWhenAway }

    /// The same for a request that is accepted at once, because it waits for other tickets.
    var atOnce: TicketWish { TicketWish(wait: .zero, applied: applied.isEmpty ? "" : "respond-async") }
}
