import Testing

/// Bytes of a client, and what must come of them. Judged by what reaches the upstream.
struct HazardRow: Sendable, CustomTestStringConvertible {
    enum Outcome: Sendable {
        /// One answer with one of these statuses, then the close. Nothing reaches the upstream.
        case refused([Int])
        /// The head was good and the body is not: the client is told or cut off, and the upstream never
        /// sees the end of the body.
        case brokenOff
        /// The upstream sees exactly these requests, `METHOD target host|body`, and every one is answered.
        case passed([String])
        /// Like `passed`, and then the connection is closed after a response of ours.
        case passedThenRefused([String], [Int])
    }

    var name: String
    var bytes: String
    var outcome: Outcome

    var testDescription: String {
        name.unicodeScalars.map { $0.value < 32 ? "\\u{\(String($0.value, radix: 16))}" : String($0) }.joined()
    }

    /// A GET with field lines of which each ends as written.
    static func head(_ name: String, _ fields: String, _ outcome: Outcome) -> HazardRow {
        HazardRow(name: name, bytes: "GET http://o.test/ HTTP/1.1\r\nHost: o.test\r\n\(fields)\r\n", outcome: outcome)
    }

    /// A POST with fields and whatever follows the head.
    static func post(_ name: String, _ fields: String, _ body: String, _ outcome: Outcome) -> HazardRow {
        HazardRow(
            name: name, bytes: "POST http://o.test/ HTTP/1.1\r\nHost: o.test\r\n\(fields)\r\n\(body)", outcome: outcome)
    }

    /// A request line, with a Host.
    static func line(_ line: String, _ outcome: Outcome, name: String? = nil) -> HazardRow {
        HazardRow(name: name ?? line, bytes: "\(line)\r\nHost: o.test\r\n\r\n", outcome: outcome)
    }

    static func chunks(_ name: String, _ body: String, _ outcome: Outcome) -> HazardRow {
        post("chunks: " + name, "Transfer-Encoding: chunked\r\n", body, outcome)
    }
}
