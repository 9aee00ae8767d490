extension AttemptRecord {
    /// Whether a response that was to be kept broke off after its head.
    package var brokeOff: Bool {
        guard status != nil, failure?.phase == .receiving, case .deliver = verdict else { return false }
        return true
    }
}

extension TicketRecord {
    /// Whether the ticket's response broke off, so that there is no body to show.
    package var responseBrokeOff: Bool { state == .delivered && attempts.records.last?.brokeOff == true }
}
