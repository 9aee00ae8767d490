import LayoverAdmin
import LayoverCore

/// When a retry is made, for people: the end of a sentence.
enum WillGoText {
    private static let parentsDelivered = "when the tickets that it depends on are delivered"

    static func clause(_ willGo: String) -> String {
        switch WillGo(rawValue: willGo) {
        case .now: "now"
        case .modeEnds: "when the mode is no longer offline"
        case .laneFree: "when the earlier requests in its lane are done"
        case .windowOpens: "when its origin has room for another attempt"
        case .pauseEnds: "when the current pause is over"
        case nil: "later (\(willGo))"
        }
    }

    /// The result for one request: when it is sent.
    static func line(_ entry: EntryDocument) -> String {
        let isBehindParent = entry.willGo == nil && entry.waitingFor == WaitReason.parent.rawValue
        let clause = isBehindParent ? parentsDelivered : clause(entry.willGo ?? WillGo.now.rawValue)
        return Terminal.safe("\(entry.id) is sent \(clause)")
    }

    /// The result for many requests: when they are sent.
    static func line(_ outcome: BulkDocument) -> String {
        let counts = outcome.willGo ?? [:]
        let known = WillGo.allCases.map(\.rawValue).filter { counts[$0] != nil }
        let names = known + counts.keys.filter { !known.contains($0) }.sorted()
        var parts = names.map { "\(counts[$0] ?? 0) \(clause($0))" }
        let rest = outcome.done - counts.values.reduce(0, +)
        if rest > 0 { parts.append("\(rest) \(parentsDelivered)") }
        return Terminal.safe(
            "\(outcome.done) of \(outcome.matched) retried" + (parts.isEmpty ? "" : ": " + parts.joined(separator: ", ")))
    }
}
