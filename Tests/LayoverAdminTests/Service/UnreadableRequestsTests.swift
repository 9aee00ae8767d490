import Foundation
import LayoverTestSupport
import Testing

@testable import LayoverAdmin

/// Malformed requests get a problem like every other error, and the connection is closed.
struct UnreadableRequestsTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var bytes: String
        /// Statuses of the responses, in order.
        var statuses: [Int]

        var testDescription: String { name }
    }

    static let rows = [
        Row(name: "no request line", bytes: "GARBAGE\r\n\r\n", statuses: [400]),
        Row(
            name: "length and chunked",
            bytes: "POST /v1/pending/retry HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
            statuses: [400]),
        Row(
            name: "two lengths",
            bytes: "POST /v1/pending/retry HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
            statuses: [400]),
        Row(
            name: "a method that is no token", bytes: "G(T /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n",
            statuses: [400]),
        Row(
            name: "a head that is too large",
            bytes: "GET /v1/status HTTP/1.1\r\nHost: localhost\r\nX: \(String(repeating: "x", count: 70_000))\r\n\r\n",
            statuses: [400]),
        Row(
            name: "behind a good request",
            bytes: "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\nGARBAGE\r\n\r\nGET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n",
            statuses: [200, 400]),
        Row(
            name: "in a body that is read",
            bytes: "POST /v1/pending/retry HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\nZZ\r\n",
            statuses: [400]),
        Row(
            name: "in a body that nobody reads",
            bytes: "GET /livez HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n\r\n",
            statuses: [200]),
    ]

    @Test(arguments: rows)
    func unreadableRequestsGetAProblem(row: Row) async throws {
        let harness = AdminHarness()
        try await AdminServiceTests.serving(harness) { port in
            let text = try await onOwnThread {
                let connection = try RawConnection(port: port)
                try connection.send(row.bytes)
                return String(decoding: try connection.receiveAll(), as: UTF8.self)
            }
            let heads = text.components(separatedBy: "HTTP/1.1 ").dropFirst()
            #expect(heads.map { Int($0.prefix(3)) } == row.statuses, "\(text)")
            for head in heads where head.hasPrefix("400") {
                #expect(head.contains("Content-Type: application/problem+json"), "\(text)")
                #expect(head.contains("\"type\":\"urn:layover:problem:unreadable\""), "\(text)")
                #expect(head.contains("X-Content-Type-Options: nosniff"), "\(text)")
            }
        }
    }
}
