import Foundation
import Testing

@testable import layover

struct TimeTextTests {
    @Test(arguments: [(0, "0s"), (119.4, "119s"), (120, "2m"), (7199, "119m"), (7200, "2h"), (172_800, "2d")])
    func spansAreShort(seconds: Double, text: String) {
        #expect(TimeText.span(seconds) == text)
    }

    @Test func distanceIsMeasuredFromNow() {
        let now = Date(timeIntervalSince1970: 1_767_225_600)
        #expect(TimeText.distance("2026-01-01T00:00:12.000Z", from: now) == "12s")
        #expect(TimeText.distance("2025-12-31T23:59:30.500Z", from: now) == "30s")
        #expect(TimeText.distance(nil, from: now) == "-")
        #expect(TimeText.distance("soon", from: now) == "-")
    }
}
