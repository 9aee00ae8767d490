import Foundation
import LayoverAdmin
import LayoverCore

/// A command for a request, as a line.
enum CommandText {
    static func line(_ command: CommandDocument) -> String {
        "\(command.name) by \(command.who)" + (command.from.map { " from \($0)" } ?? "") + " at \(command.at)"
    }
}

/// Where a failure happened, for people.
enum FailureText {
    static func place(_ kind: String, _ phase: String?) -> String {
        guard let phase else { return kind }
        // A request that is incomplete is refused before its origin is looked for; `resolving` is only the earliest phase.
        if kind == "http_request_error", phase == "resolving" { return "\(kind) before sending" }
        return "\(kind) while \(phase)"
    }
}

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

/// Times relative to now, for people.
enum TimeText {
    /// `12s`, `4m`, `3h`, `2d`; `-` for an unreadable time.
    static func distance(_ time: String?, from now: Date) -> String {
        guard let time, let date = date(time) else { return "-" }
        return span(abs(date.timeIntervalSince(now)))
    }

    static func span(_ seconds: Double) -> String {
        switch seconds {
        case ..<120: "\(Int(seconds.rounded()))s"
        case ..<7200: "\(Int(seconds / 60))m"
        case ..<172_800: "\(Int(seconds / 3600))h"
        default: "\(Int(seconds / 86_400))d"
        }
    }

    static func date(_ time: String) -> Date? {
        try? Date(time, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
