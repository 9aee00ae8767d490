import LayoverAdmin
import LayoverCore

extension WaitingReport {
    /// Takes an event about a request of the admin API.
    mutating func take(_ entry: EntryDocument, hasEnded: Bool, now: Duration) -> String? {
        guard !hasEnded else { return ended(entry.id, trouble: Self.trouble(of: entry), now: now) }
        // The response comes, which may take long.
        if entry.attempt?.phase == FailurePhase.receiving.rawValue { return ended(entry.id, trouble: nil, now: now) }
        waits(Request(id: entry.id, host: entry.host, reason: Self.reason(of: entry)), now: now)
        return nil
    }

    /// How the request ended. Nil: it was answered.
    private static func trouble(of entry: EntryDocument) -> String? {
        entry.state == EntryState.delivered.rawValue ? nil : entry.state
    }

    static func reason(of entry: EntryDocument) -> String {
        switch (entry.state, entry.waitingFor) {
        case (EntryState.held.rawValue, _): "held by a person"
        case (EntryState.undecided.rawValue, _): "it may have been applied; a person decides"
        case (_, WaitReason.network.rawValue): "offline"
        case (_, WaitReason.lane.rawValue), (_, WaitReason.parent.rawValue): "waits for another request"
        case _: entry.lastFailure.map { text(of: $0.kind) } ?? "not reachable"
        }
    }

    private static func text(of kind: String) -> String {
        switch FailureKind(rawValue: kind) {
        case .dnsError, .dnsTimeout: "its name is not found"
        case .httpResponseStatus: "it answers that it is busy"
        case .httpResponseIncomplete: "its response broke off"
        case .connectionTimeout, .httpResponseTimeout, .connectionReadTimeout, .connectionWriteTimeout: "no answer"
        case _: kind.replacing("_", with: " ")
        }
    }
}
