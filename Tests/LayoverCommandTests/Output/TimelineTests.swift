import Foundation
import LayoverAdmin
import Testing

@testable import layover

struct TimelineTests {
    private static func timeline(_ attempts: [String], dropped: Int = 0) throws -> [String] {
        let text = """
            {"id":"x","attempts":[\(attempts.joined(separator: ","))],"droppedCount":\(dropped),
            "now":{"state":"waiting","waitingFor":null,"why":null,"until":null,"text":"Waits."}}
            """
        return Timeline(document: try JSONDecoder().decode(ExplainDocument.self, from: Data(text.utf8))).lines
    }

    private static func attempt(_ number: Int, status: Int = 503, port: Int = 40_000, text: String = "\"Parked.\"") -> String {
        """
        {"number":\(number),"trigger":"dueTime","startedAt":"2026-01-01T00:00:0\(number % 10).000Z","endedAt":null,"phase":null,
        "kind":null,"evidence":null,"message":null,"status":\(status),"bytesSent":9,"reusedConnection":false,
        "localAddress":"127.0.0.1:\(port)","remoteAddress":"192.0.2.1:80","curlCode":null,"osError":null,"verdict":"park",
        "rule":"status","text":\(text)}
        """
    }

    @Test func attemptsThatRepeatTheOneBeforeThemAreFolded() throws {
        let lines = try Self.timeline((1...6).map { Self.attempt($0, port: 40_000 + $0) } + [Self.attempt(7, status: 200)])
        #expect(lines.count == 1 + 3 + 2 + 3 + 1)
        #expect(lines[1].hasSuffix("dueTime: answered with 503"))
        #expect(lines[4] == "      … 5 more attempts with the same result, the last one:")
        #expect(lines[5] == "6     2026-01-01T00:00:06.000Z dueTime")
        #expect(lines[6].hasSuffix("answered with 200"))
    }

    @Test(arguments: ["ms", "milliseconds"])
    func resultsThatDifferInTheirDurationOnlyAreFolded(unit: String) throws {
        let message = "Failed to connect to 127.0.0.1 port 9 after 0 \(unit): Couldn't connect to server"
        let attempts = [0, 7, 1, 20].enumerated().map { number, time in
            Self.attempt(number + 1).replacing(
                #""message":null"#, with: #""message":"\#(message.replacing(" 0 ", with: " \(time) "))""#)
        }
        let lines = try Self.timeline(attempts)
        #expect(lines.contains("      … 3 more attempts with the same result, the last one:"), "\(lines)")
        let other = Self.attempt(5).replacing(#""message":null"#, with: #""message":"Failed to connect to 127.0.0.1 port 10 after 0 ms""#)
        #expect(try Self.timeline(attempts + [other]).contains { $0.hasPrefix("5 ") && $0.contains("answered") })
    }

    @Test func oneRepetitionAndOtherResultsAreNotFolded() throws {
        let lines = try Self.timeline([Self.attempt(1), Self.attempt(2), Self.attempt(3, status: 429)])
        #expect(!lines.contains { $0.contains("more attempts") })
        #expect(lines.count == 1 + 9 + 1)
    }

    @Test func foldingStopsWhereAttemptsAreMissing() throws {
        let lines = try Self.timeline([1, 2, 4, 44, 45, 46].map { Self.attempt($0) }, dropped: 40)
        #expect(lines.count { $0.contains("2 more attempts with the same result") } == 2)
        #expect(lines.firstIndex(of: "      … 40 attempts not recorded …") == 6)
        #expect(lines.last == "now   Waits.")
    }

    @Test func verdictIsASentenceAndWithoutOneItsName() throws {
        #expect(try Self.timeline([Self.attempt(1)])[3] == "      Parked.")
        #expect(try Self.timeline([Self.attempt(1, text: "null")])[3] == "      park (rule status)")
    }

    @Test func incompleteRequestFailsBeforeSending() {
        #expect(FailureText.place("http_request_error", "resolving") == "http_request_error before sending")
        #expect(FailureText.place("dns_error", "resolving") == "dns_error while resolving")
    }
}
