import LayoverEngine
import Testing

@testable import LayoverCache

/// RFC 9111 sections 4.2.4 and 5.2, RFC 5861 section 4.
struct ServingRuleTests {
    private func verdict(
        _ age: Int, of lifetime: Int = 100, answer: String? = nil, asked: [String] = [],
        _ occasion: CacheOccasion = .unreachable
    ) -> ServingRule.Verdict {
        ServingRule.verdict(
            on: .made(200, answer.map { ["Cache-Control: \($0)"] } ?? []), lifetime: lifetime, age: age,
            to: .made(asked), occasion)
    }

    @Test(arguments: [(0, 100), (99, 1), (100, 0), (101, -1), (1_000_000, -999_900)])
    func staleResponseIsUsedWhileTheOriginIsAway(age: Int, freshFor: Int) {
        #expect(verdict(age) == .serve(freshFor: freshFor))
    }

    @Test(arguments: [
        (["Cache-Control: no-cache"], true), (["Cache-Control: no-store"], true), (["Pragma: no-cache"], true),
        (["Pragma: x, No-Cache"], true), (["Cache-Control: max-stale", "Pragma: no-cache"], false),
        (["Pragma: x"], false), (["Cache-Control: no-transform"], false), (["Cache-Control: only-if-cached"], false),
    ])
    func theClientMayForbid(asked: [String], isForbidden: Bool) {
        #expect((verdict(10, asked: asked) == .refuse(.forbidden)) == isForbidden)
        #expect((verdict(10, asked: asked) == .serve(freshFor: 90)) != isForbidden)
    }

    @Test(arguments: [
        ("max-age=0", 10, nil), ("max-age=0", 0, nil), ("max-age=11", 10, 90), ("max-age=10", 10, nil), ("max-age=9", 10, nil),
        ("max-age=500", 110, nil), ("max-age=x", 10, nil), ("max-age=5, max-stale", 10, 90),
        ("max-age=500, max-stale=9", 110, nil), ("max-age=500, max-stale=10", 110, -10),
        ("min-fresh=90", 10, 90), ("min-fresh=91", 10, nil), ("min-fresh=1", 100, nil), ("min-fresh=x", 10, 90),
        ("max-stale", 10_000, -9900), ("max-stale=50", 150, -50), ("max-stale=50", 151, nil),
        ("stale-if-error=50", 150, -50), ("stale-if-error=50", 151, nil),
    ] as [(String, Int, Int?)])
    func clientLimitsTheAge(asked: String, age: Int, freshFor: Int?) {
        let expected = freshFor.map { ServingRule.Verdict.serve(freshFor: $0) } ?? .refuse(.tooStale)
        #expect(verdict(age, asked: ["Cache-Control: \(asked)"]) == expected)
    }

    @Test(arguments: [
        ("must-revalidate", 99, ServingRule.Verdict.serve(freshFor: 1)),
        ("must-revalidate", 100, .refuse(.mustRevalidate)),
        ("must-revalidate, stale-if-error=9999", 101, .refuse(.mustRevalidate)),
        ("no-cache", 1, .refuse(.mustRevalidate)), ("no-cache=\"X-A\"", 1, .serve(freshFor: 99)),
        // These two speak to shared caches.
        ("proxy-revalidate", 200, .serve(freshFor: -100)), ("s-maxage=1", 200, .serve(freshFor: -100)),
        ("stale-if-error=50", 150, .serve(freshFor: -50)), ("stale-if-error=50", 151, .refuse(.tooStale)),
        ("stale-if-error=0", 101, .refuse(.tooStale)), ("stale-if-error=x", 101, .refuse(.tooStale)),
        ("stale-while-revalidate=1", 500, .serve(freshFor: -400)),
    ])
    func originCanRequireRevalidation(answer: String, age: Int, expected: ServingRule.Verdict) {
        #expect(verdict(age, answer: answer) == expected)
    }

    @Test(arguments: [
        ("must-revalidate", "max-stale", 101, ServingRule.Verdict.refuse(.mustRevalidate)),
        ("must-revalidate", "stale-if-error=999", 101, .refuse(.mustRevalidate)),
        ("stale-if-error=50", "max-stale=100", 200, .serve(freshFor: -100)),
    ])
    func onlyMustRevalidateOverridesTheClient(answer: String, asked: String, age: Int, expected: ServingRule.Verdict) {
        #expect(verdict(age, answer: answer, asked: ["Cache-Control: \(asked)"]) == expected)
    }

    @Test(arguments: [
        ("only-if-cached", 99, ServingRule.Verdict.serve(freshFor: 1)), ("only-if-cached", 100, .refuse(.tooStale)),
        ("only-if-cached, max-stale=10", 110, .serve(freshFor: -10)),
        ("only-if-cached, stale-if-error=10", 105, .refuse(.tooStale)),
    ])
    func onlyIfCachedAloneIsNoReasonForStale(asked: String, age: Int, expected: ServingRule.Verdict) {
        #expect(verdict(age, asked: ["Cache-Control: \(asked)"], .onlyIfCached) == expected)
    }
}
