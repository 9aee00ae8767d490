import Foundation
import LayoverTestSupport
import Testing

@testable import layover

struct WaitingReporterTests {
    @Test(.liveAdmin, .timeLimit(.minutes(2))) func waitAndItsEndAreReportedInTwoLines() async throws {
        let (lines, line) = AsyncStream<String>.makeStream()
        let reporter = WaitingReporter(try admin.client()) { line.yield($0) }
        let running = Task { await reporter.run() }
        let id = admin.park(1)
        var seen: [String] = []
        for await text in lines {
            seen.append(text)
            if seen.count == 2 { break }
            try await run(["cancel", id.description, "--admin-url", admin.url])
        }
        running.cancel()
        // A second, or more on a busy machine.
        #expect(seen.first?.wholeMatch(of: #/waiting for shop\.example \(connection refused, [1-9][0-9]* s\)…/#) != nil, "\(seen)")
        #expect(seen.last?.hasPrefix("gave up on shop.example after ") == true, "\(seen)")
        #expect(seen.last?.hasSuffix("(cancelled)") == true, "\(seen)")
    }
}
