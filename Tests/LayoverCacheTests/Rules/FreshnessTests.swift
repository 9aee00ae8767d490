import LayoverEngine
import Testing

@testable import LayoverCache

/// RFC 9111 sections 4.2.1 to 4.2.3.
struct FreshnessTests {
    private static let date = "Date: Thu, 01 Jan 2026 00:00:00 GMT"

    @Test(arguments: [
        (["Cache-Control: max-age=60"], 60),
        (["Cache-Control: max-age=60", "Expires: Thu, 01 Jan 2026 01:00:00 GMT"], 60),
        (["Cache-Control: s-maxage=60"], 0),
        (["Cache-Control: s-maxage=60, max-age=5"], 5),
        (["Cache-Control: max-age=x", "Expires: Thu, 01 Jan 2026 01:00:00 GMT"], 0),
        (["Expires: Thu, 01 Jan 2026 01:00:00 GMT"], 3600),
        (["Expires: Wed, 31 Dec 2025 23:00:00 GMT"], 0),
        (["Expires: 0"], 0), (["Expires: -1"], 0), (["Expires: soon"], 0),
        (["Expires: Thu, 01 Jan 2026 01:00:00 GMT", "Expires: Thu, 01 Jan 2026 02:00:00 GMT"], 0),
        (["Expires: 0", "Last-Modified: Mon, 22 Dec 2025 00:00:00 GMT"], 0),
        (["Last-Modified: Mon, 22 Dec 2025 00:00:00 GMT"], 86_400),
        (["Last-Modified: Fri, 02 Jan 2026 00:00:00 GMT"], 0),
        ([], 0),
    ])
    func lifetime(fields: [String], expected: Int) {
        let response = ResponseFacts.made(200, [Self.date] + fields)
        #expect(Freshness.lifetime(of: response, answeredAt: newYear + 7) == expected)
    }

    @Test func withoutADateTheArrivalCounts() {
        let response = ResponseFacts.made(200, ["Expires: Thu, 01 Jan 2026 01:00:00 GMT"])
        #expect(Freshness.lifetime(of: response, answeredAt: newYear + 600) == 3000)
    }

    @Test func aTemporaryRedirectHasNoHeuristic() {
        let fields = [Self.date, "Last-Modified: Mon, 22 Dec 2025 00:00:00 GMT"]
        #expect(Freshness.lifetime(of: .made(302, fields), answeredAt: newYear) == 0)
        #expect(Freshness.lifetime(of: .made(302, fields + ["Cache-Control: public"]), answeredAt: newYear) == 86_400)
    }

    @Test(arguments: [
        ([], 0, 0, 0), ([], 0, 3, 3), ([Self.date], 0, 3, 3), ([Self.date], 50, 53, 53), ([Self.date], 50, 60, 60),
        (["Age: 100"], 0, 0, 100), (["Age: 100"], 0, 4, 104), ([Self.date, "Age: 10"], 50, 50, 50),
        ([Self.date, "Age: 90"], 50, 52, 92), (["Age: x"], 0, 1, 1), (["Age: -5"], 0, 1, 1), (["Age: 7, 9"], 0, 0, 7),
        (["Age: 99999999999999999999999"], 0, 0, 1 << 31),
        // The origin's clock is ahead of ours.
        ([Self.date], -100, -98, 2),
    ] as [([String], Int, Int, Int)])
    func initialAge(fields: [String], requested: Int, answered: Int, expected: Int) {
        let times = CacheTimes(requestedAt: newYear + requested, answeredAt: newYear + answered)
        #expect(Freshness.initialAge(of: .made(200, fields), at: times) == expected)
    }

    @Test func clockSetBackDoesNotReduceTheAge() {
        #expect(Freshness.age(initialAge: 10, answeredAt: newYear, now: newYear + 5) == 15)
        #expect(Freshness.age(initialAge: 10, answeredAt: newYear, now: newYear - 3600) == 10)
    }
}
