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

    /// The response that a ticket brought.
    package func ticketResponse(_ id: String) async throws -> PlainResponse {
        try await exchange("GET /.layover/tickets/\(id)/response HTTP/1.1\r\n\(own)\r\n")
    }

    package func dropTicket(_ id: String) async throws -> PlainResponse {
        try await exchange("DELETE /.layover/tickets/\(id) HTTP/1.1\r\n\(own)\r\n")
    }

    /// The ids by which the admin port shows the entries of tickets.
    package func entries(of tickets: [String]) async throws -> Set<String> {
        var ids: Set<String> = []
        for ticket in tickets { ids.insert(try await entry(of: ticket)) }
        return ids
    }

    /// The id by which the admin port shows the entry of a ticket.
    package func entry(of ticket: String) async throws -> String { try await entry(ticket).id }

    /// The id of the ticket of an entry, which the admin port shows to callers with the token.
    package func ticketID(of entry: String) async throws -> String {
        let token = try String(contentsOf: folder.file("admin-token"), encoding: .utf8).trimmingCharacters(in: .newlines)
        guard let ticket = try await self.entry(entry, token: token).ticket else {
            throw ProcessError("\(entry) is no ticket.")
        }
        return ticket
    }

    private func entry(_ id: String, token: String? = nil) async throws -> PendingListing.Entry {
        let admin = admin
        let answer = try await onOwnThread { try admin.call("GET", "/v1/pending/\(id)", token: token) }
        guard answer.status == 200 else { throw ProcessError("Entry \(id): \(answer.status) \(answer.text)") }
        return try JSONDecoder().decode(PendingListing.Entry.self, from: answer.body)
    }

    private var own: String { "Host: 127.0.0.1:\(proxyPort)\r\nConnection: close\r\n" }
}

extension PlainResponse {
    /// The id of the ticket that its `Location` names.
    package var ticket: String? {
        guard let location = field("Location"), let range = location.range(of: "/.layover/tickets/") else { return nil }
        return String(location[range.upperBound...])
    }
}
