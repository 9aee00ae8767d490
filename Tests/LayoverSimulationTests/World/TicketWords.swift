/// Fields of a request about tickets and their order.
struct TicketWords {
    /// The value of `Prefer`.
    var prefer: String?
    var isDeferred = false
    var lane: String?
    var after: [RequestTruth] = []
    var priority: Int?

    /// True if the request becomes a ticket or nothing: it is never sent while its client holds it.
    var isTicketAtOnce: Bool {
        isDeferred || prefer == "respond-async, wait=0" || prefer == "respond-async" && (lane != nil || !after.isEmpty)
    }

    /// Whether its client waits for a while, or for a failure, and takes a ticket then: of equal requests of that kind one goes at a
    /// time.
    var isTicketLater: Bool { prefer?.hasPrefix("respond-async") == true && !isTicketAtOnce }

    var lines: [String] {
        var lines: [String] = []
        if let prefer { lines.append("Prefer: \(prefer)") }
        if isDeferred { lines.append("Layover-Mode: defer") }
        if let priority { lines.append("Priority: u=\(priority)") }
        if let lane { lines.append("Layover-Lane: \(lane)") }
        if !after.isEmpty {
            lines.append("Layover-After: \(after.compactMap { $0.ticket?.description }.joined(separator: ", "))")
        }
        return lines
    }
}
