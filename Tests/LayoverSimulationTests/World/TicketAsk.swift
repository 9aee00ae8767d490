import LayoverCore

/// A question about a ticket.
struct TicketAsk {
    enum Kind: CaseIterable { case look, wait, response, drop }

    var kind: Kind
    var of: RequestTruth

    var head: String {
        let path = "/.layover/tickets/\(of.ticket?.description ?? "")"
        let line =
            switch kind {
            case .look: "GET \(path)"
            case .wait: "GET \(path)"
            case .response: "GET \(path)/response"
            case .drop: "DELETE \(path)"
            }
        let prefer = kind == .wait ? "Prefer: wait=5\r\n" : ""
        return "\(line) HTTP/1.1\r\nHost: localhost\r\n\(prefer)\r\n"
    }
}
