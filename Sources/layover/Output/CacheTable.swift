import Foundation
import LayoverAdmin

/// Responses that are kept for reading offline, as a table.
struct CacheTable {
    let responses: [CachedResponseDocument]
    let usage: CacheUsageDocument
    let now: Date

    func lines(_ terminal: Terminal) -> [String] {
        let summary = Terminal.safe("total: \(Self.text(usage))")
        guard !responses.isEmpty else { return ["no cached responses", summary] }
        var table = Table([
            .init(title: "METHOD"), .init(title: "URL", isFlexible: true), .init(title: "STATUS", isRight: true),
            .init(title: "BYTES", isRight: true), .init(title: "STORED", isRight: true),
            .init(title: "FRESH FOR", isRight: true), .init(title: "USED", isRight: true), .init(title: "FOR"),
            .init(title: "TYPE", isFlexible: true),
        ])
        for response in responses { table.add(cells(of: response)) }
        return table.lines(width: terminal.width) + [summary]
    }

    private func cells(of response: CachedResponseDocument) -> [String] {
        [
            response.method, response.url, String(response.status), String(response.bytes),
            TimeText.distance(response.storedAt, from: now), freshness(of: response),
            TimeText.distance(response.usedAt, from: now), response.isForOneUser ? "one user" : "all users",
            response.contentType ?? "-",
        ]
    }

    private func freshness(of response: CachedResponseDocument) -> String {
        guard let until = TimeText.date(response.freshUntil) else { return "-" }
        return until > now ? TimeText.span(until.timeIntervalSince(now)) : "stale"
    }

    /// The size of the cache, and its last error.
    static func text(_ usage: CacheUsageDocument) -> String {
        let text = "\(usage.entries)/\(usage.entriesMax) responses, \(usage.bytes)/\(usage.bytesMax) bytes"
        return usage.failure.map { "\(text), \($0)" } ?? text
    }
}
