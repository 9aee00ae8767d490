import Foundation
import LayoverAdmin

/// The attempts of an entry, one after the other, and its current state.
struct Timeline {
    let document: ExplainDocument

    var lines: [String] {
        var lines = [document.id]
        if document.attempts.isEmpty { lines.append("no finished attempts yet") }
        let gap = gap
        for (index, attempt) in document.attempts.enumerated() {
            if index == gap { lines.append("      … \(document.droppedCount) attempts not recorded …") }
            lines += Self.lines(attempt)
        }
        return (lines + ["now   \(document.now.text)"]).map(Terminal.safe)
    }

    /// The attempt before which those stood that are not kept. Sendings that libcurl made within an attempt
    /// leave gaps between numbers too, but small ones.
    private var gap: Int? {
        guard document.droppedCount > 0 else { return nil }
        let numbers = document.attempts.map(\.number)
        return numbers.indices.dropFirst().max {
            numbers[$0] - numbers[$0 - 1] < numbers[$1] - numbers[$1 - 1]
        }
    }

    private static func lines(_ attempt: AttemptDocument) -> [String] {
        let number = String(attempt.number)
        let margin = String(repeating: " ", count: max(0, 4 - number.count))
        var lines = [
            "\(number)\(margin)  \(attempt.startedAt) \(attempt.trigger)\(took(attempt)): \(outcome(attempt))"
        ]
        lines += [connection(attempt), attempt.message, verdict(attempt)].compactMap { text in
            text.map { "      " + $0 }
        }
        return lines
    }

    private static func took(_ attempt: AttemptDocument) -> String {
        guard let end = attempt.endedAt.flatMap(TimeText.date), let start = TimeText.date(attempt.startedAt)
        else { return "" }
        let milliseconds = Int((end.timeIntervalSince(start) * 1000).rounded())
        return milliseconds < 1000 ? ", \(milliseconds) ms" : ", \(Double(milliseconds) / 1000) s"
    }

    private static func outcome(_ attempt: AttemptDocument) -> String {
        if let status = attempt.status { return "answered with \(status)" }
        guard let kind = attempt.kind else { return "answered" }
        return "\(kind)" + (attempt.phase.map { " while \($0)" } ?? "")
            + (attempt.evidence.map { " (\($0))" } ?? "")
    }

    private static func connection(_ attempt: AttemptDocument) -> String? {
        var parts: [String] = []
        if let remote = attempt.remoteAddress {
            parts.append((attempt.localAddress.map { "\($0) to " } ?? "to ") + remote)
        }
        if let isReused = attempt.reusedConnection, attempt.remoteAddress != nil {
            parts.append(isReused ? "kept-alive connection" : "new connection")
        }
        if let count = attempt.bytesSent { parts.append("\(count) bytes sent") }
        if let code = attempt.curlCode { parts.append("curl \(code)") }
        if let error = attempt.osError { parts.append("errno \(error)") }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    private static func verdict(_ attempt: AttemptDocument) -> String? {
        guard let verdict = attempt.verdict else { return nil }
        return "\(verdict)" + (attempt.rule.map { " by \($0)" } ?? "")
            + (attempt.text.map { ": \($0)" } ?? "")
    }
}
