import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// The tour of the README, as `scripts/tour.sh` plays it.
    @Suite struct TourTests {
        @Test func tourShowsWhatTheReadmeSays() async throws {
            let tour = try await Command(Fixtures.script("tour.sh"), [RunningLayover.binary]).run(within: .seconds(120))
            #expect(tour.status == 0, "\(tour.output)\(tour.errors)")
            let parts = tour.output.components(separatedBy: "\n# ")
            try #require(parts.count == 6, "\(tour.output)")
            #expect(parts[1].hasSuffix("hello from the shop\n"))
            #expect(parts[2].contains("waiting"), "the request is in the list")
            #expect(parts[3].hasSuffix("hello from the shop\n"), "the client that waited has its response")
            #expect(parts[4].contains("\"state\":\"waiting\""))
            #expect(parts[5].hasSuffix("ordered: two books\n"), "the order outlived the process")
        }
    }
}
