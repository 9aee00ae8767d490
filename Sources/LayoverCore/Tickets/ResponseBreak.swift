extension AttemptRecord {
    /// Whether an answer that was to be kept broke off after its head.
    package var brokeOff: Bool {
        guard status != nil, failure?.phase == .receiving, case .deliver = verdict else { return false }
        return true
    }
}

extension TicketRecord {
    /// Whether its answer broke off, so that there is no body to show.
    package var answerBrokeOff: Bool { state == .delivered && attempts.records.last?.brokeOff == true }
}
