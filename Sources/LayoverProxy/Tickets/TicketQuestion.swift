import LayoverCore

/// A client's question about a ticket.
struct TicketQuestion {
    enum Ask: Equatable {
        /// The standing of the ticket, now or once it is final or undecided, but after so long at most.
        case standing(wait: Duration)
        case response
        case drop
    }

    /// Longest wait. Default: 10 minutes.
    static let waitMax: Duration = .seconds(600)

    var id: EntryID
    var ask: Ask
}
