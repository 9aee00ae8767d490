import Foundation

/// Tickets as their clients reach them.
extension RunningLayover {
    /// How a ticket stands; with `wait` (seconds) it may take until it is final or undecided.
    package func ticket(_ id: String, wait: Int = 0) async throws -> TicketView {
        let preference = wait > 0 ? "Prefer: wait=\(wait)\r\n" : ""
        let answer = try await exchange("GET /.layover/tickets/\(id) HTTP/1.1\r\n\(own)\(preference)\r\n")
        guard answer.status == 200 else { throw ProcessError("Ticket \(id): \(answer.status) \(answer.text)") }
        return try TicketView(answer.body)
    }

    /// The answer that a ticket brought.
    package func ticketResponse(_ id: String) async throws -> PlainAnswer {
        try await exchange("GET /.layover/tickets/\(id)/response HTTP/1.1\r\n\(own)\r\n")
    }

    package func dropTicket(_ id: String) async throws -> PlainAnswer {
        try await exchange("DELETE /.layover/tickets/\(id) HTTP/1.1\r\n\(own)\r\n")
    }

    private var own: String { "Host: 127.0.0.1:\(proxyPort)\r\nConnection: close\r\n" }
}

extension PlainAnswer {
    /// The id of the ticket that its `Location` names.
    package var ticket: String? {
        guard let location = field("Location"), let range = location.range(of: "/.layover/tickets/") else { return nil }
        return String(location[range.upperBound...])
    }
}
