import Foundation
import LayoverAdmin

/// The attempts of an entry, one after the other, and its current state. Attempts that repeat the one before them are
/// folded into one line.
struct Timeline {
    /// Fewest repetitions that are folded: fewer are no shorter when they are folded.
    private static let foldedCountMin = 2

    let document: ExplainDocument

    var lines: [String] {
        var lines = [document.id]
        if document.attempts.isEmpty { lines.append("no finished attempts yet") }
        let gap = gap
        var index = 0
        while index < document.attempts.count {
            if index == gap { lines.append("      … \(document.droppedCount) attempts not recorded …") }
            let attempt = document.attempts[index]
            lines += Self.lines(attempt)
            let repeated = repetitions(after: index, gap: gap)
            if repeated.count >= Self.foldedCountMin, let last = repeated.last {
                lines.append("      … \(repeated.count) more attempts with the same result, the last one:")
                lines.append(Self.headline(last))
                index += repeated.count
            }
            index += 1
        }
        if let command = document.lastCommand {
            lines.append(
                "last command: \(CommandText.line(command))" + (command.reason.map { ": \($0)" } ?? ""))
        }
        if let proxy = document.parentProxy { lines.append("via   parent proxy \(proxy)") }
        if let name = document.serverName {
            lines.append(
                "tls   the client asked for \(name); the request goes to the host of its CONNECT"
            )
        }
        return (lines + ["now   \(document.now.text)"]).map(Terminal.safe)
    }

    /// The attempts right after one that went as it did, up to the place where attempts are missing.
    private func repetitions(after index: Int, gap: Int?) -> ArraySlice<AttemptDocument> {
        let result = Self.result(document.attempts[index])
        let rest = document.attempts[(index + 1)...]
        let end = rest.indices.first { $0 == gap || Self.result(rest[$0]) != result }
        return rest[..<(end ?? rest.endIndex)]
    }

    /// The values that have to be equal in attempts that are folded. Each connection has a local port of its own, and
    /// libcurl writes into its message how long the attempt took.
    private static func result(_ attempt: AttemptDocument) -> [String?] {
        [outcome(attempt), attempt.remoteAddress, attempt.message.map(withoutTimes), verdict(attempt)]
    }

    /// "after 7 ms" and "after 5001 milliseconds", without the numbers.
    private static func withoutTimes(_ message: String) -> String {
        message.replacing(/after \d+ (ms|milliseconds)\b/) { "after \($0.1)" }
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
        [headline(attempt) + ": \(outcome(attempt))"] + details(attempt).map { "      " + $0 }
    }

    private static func headline(_ attempt: AttemptDocument) -> String {
        let number = String(attempt.number)
        let margin = String(repeating: " ", count: max(0, 4 - number.count))
        return "\(number)\(margin)  \(attempt.startedAt) \(attempt.trigger)\(took(attempt))"
    }

    private static func details(_ attempt: AttemptDocument) -> [String] {
        [connection(attempt), attempt.message, verdict(attempt)].compactMap(\.self)
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
        return FailureText.place(kind, attempt.phase) + (attempt.evidence.map { " (\($0))" } ?? "")
    }

    private static func connection(_ attempt: AttemptDocument) -> String? {
        var parts: [String] = []
        if let remote = attempt.remoteAddress {
            parts.append((attempt.localAddress.map { "\($0) to " } ?? "to ") + remote)
        }
        if let isReused = attempt.reusedConnection, attempt.remoteAddress != nil {
            parts.append(isReused ? "kept-alive connection" : "new connection")
        }
        if let path = attempt.path, attempt.remoteAddress != nil { parts.append(path) }
        if let count = attempt.bytesSent { parts.append("\(count) bytes sent") }
        if let code = attempt.curlCode { parts.append("curl \(code)") }
        if let error = attempt.osError { parts.append("errno \(error)") }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    /// The rule as a sentence; a proxy of another version may have none for it.
    private static func verdict(_ attempt: AttemptDocument) -> String? {
        attempt.text ?? attempt.verdict.map { "\($0)" + (attempt.rule.map { " (rule \($0))" } ?? "") }
    }
}
