import LayoverCore

/// Where the client of a ticket finds it.
enum TicketAddress {
    static let prefix = "/.layover/tickets/"

    /// The ticket and the part of it that a path names.
    static func parse(_ path: Substring) -> (id: EntryID, wantsResponse: Bool)? {
        guard path.hasPrefix(prefix) else { return nil }
        let parts = path.dropFirst(prefix.count).split(separator: "/", omittingEmptySubsequences: false)
        guard let first = parts.first, let id = EntryID(first) else { return nil }
        switch parts.count {
        case 1: return (id, false)
        case 2 where parts[1] == "response": return (id, true)
        default: return nil
        }
    }

    static func path(of id: EntryID) -> String { prefix + id.description }
}
