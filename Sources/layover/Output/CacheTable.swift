import Foundation
import LayoverAdmin

/// Responses that are kept for reading offline, as a table.
struct CacheTable {
    let answers: [CachedResponseDocument]
    let usage: CacheUsageDocument
    let now: Date

    func lines(_ terminal: Terminal) -> [String] {
        let summary = Terminal.safe("total: \(Self.text(usage))")
        guard !answers.isEmpty else { return ["no cached responses", summary] }
        var table = Table([
            .init(title: "METHOD"), .init(title: "URL", isFlexible: true), .init(title: "STATUS", isRight: true),
            .init(title: "BYTES", isRight: true), .init(title: "STORED", isRight: true),
            .init(title: "FRESH FOR", isRight: true), .init(title: "USED", isRight: true), .init(title: "FOR"),
            .init(title: "TYPE", isFlexible: true),
        ])
        for answer in answers { table.add(cells(of: answer)) }
        return table.lines(width: terminal.width) + [summary]
    }

    private func cells(of answer: CachedResponseDocument) -> [String] {
        [
            answer.method, answer.url, String(answer.status), String(answer.bytes),
            TimeText.distance(answer.storedAt, from: now), freshness(of: answer),
            TimeText.distance(answer.usedAt, from: now), answer.isForOneUser ? "one user" : "all users",
            answer.contentType ?? "-",
        ]
    }

    private func freshness(of answer: CachedResponseDocument) -> String {
        guard let until = TimeText.date(answer.freshUntil) else { return "-" }
        return until > now ? TimeText.span(until.timeIntervalSince(now)) : "stale"
    }

    /// The size of the cache, and its last error.
    static func text(_ usage: CacheUsageDocument) -> String {
        let text = "\(usage.entries)/\(usage.entriesMax) responses, \(usage.bytes)/\(usage.bytesMax) bytes"
        return usage.failure.map { "\(text), \($0)" } ?? text
    }
}
