import LayoverHTTP
import Testing

@testable import LayoverCache

/// RFC 9111 section 3.
struct StoringRuleTests {
    private static let fresh = "Cache-Control: max-age=60"

    private func verdict(
        _ status: Int = 200, _ answer: [String] = [], asked: [String] = [], method: String = "GET",
        framing: ResponseFraming = .length(5)
    ) -> StoringRule.Verdict {
        StoringRule.verdict(
            on: .made(status, answer), framing: framing, to: .made(asked, method: method))
    }

    @Test(arguments: [
        ("GET", StoringRule.Verdict.keep), ("HEAD", .keep), ("POST", .pass(.method)), ("PUT", .pass(.method)),
        ("get", .pass(.method)), ("OPTIONS", .pass(.method)), ("QUERY", .pass(.method)),
    ])
    func onlyGetAndHeadAreKept(method: String, expected: StoringRule.Verdict) {
        #expect(verdict(200, [Self.fresh], method: method) == expected)
    }

    @Test func requestWithABodyIsIgnored() {
        let request = RequestFacts(.to("/a", hasBody: true))
        #expect(StoringRule.verdict(on: .made(), framing: .none, to: request) == .pass(.method))
    }

    @Test(arguments: [
        (200, StoringRule.Verdict.keep), (203, .keep), (204, .keep), (300, .keep), (301, .keep), (308, .keep),
        (302, .drop(.notExplicit)), (303, .drop(.notExplicit)), (307, .drop(.notExplicit)),
        (206, .pass(.partial)), (304, .renew), (404, .drop(.gone)), (410, .drop(.gone)),
        (201, .pass(.status)), (400, .pass(.status)), (401, .pass(.status)), (403, .pass(.status)),
        (405, .pass(.status)), (429, .pass(.status)), (500, .pass(.status)), (503, .pass(.status)),
    ])
    func statusesWithoutCacheControl(status: Int, expected: StoringRule.Verdict) {
        #expect(verdict(status) == expected)
    }

    @Test(
        arguments: [302, 303, 307],
        ["Cache-Control: max-age=0", "Cache-Control: private", "Cache-Control: public", "Expires: 0"])
    func temporaryRedirectIsKeptWithExplicitFreshness(status: Int, field: String) {
        #expect(verdict(status, [field]) == .keep)
    }

    @Test(arguments: [206, 400, 404, 500, 503])
    func explicitFreshnessDoesNotKeepErrorsOrParts(status: Int) {
        #expect(verdict(status, ["Cache-Control: public, max-age=60"]) != .keep)
    }

    @Test(arguments: [
        ("no-store", StoringRule.Verdict.drop(.noStore)), ("No-Store", .drop(.noStore)),
        ("max-age=60, no-store", .drop(.noStore)), ("no-store, must-understand", .drop(.noStore)),
        ("no-cache", .drop(.noCache)), ("max-age=60,no-cache", .drop(.noCache)), ("no-cache=\"\"", .drop(.noCache)),
        ("no-cache=\"X-A, X-B\"", .keep), ("private", .keep), ("private=\"X-A\"", .keep), ("must-revalidate", .keep),
        ("proxy-revalidate", .keep), ("s-maxage=0", .keep), ("immutable", .keep),
        ("x=\"no-store\"", .keep), ("x=\", no-store,\"", .keep),
    ])
    func directivesOfTheResponse(value: String, expected: StoringRule.Verdict) {
        #expect(verdict(200, ["Cache-Control: \(value)"]) == expected)
    }

    @Test func noStoreOfTheRequestKeepsNothing() {
        #expect(verdict(asked: ["Cache-Control: no-store"]) == .pass(.requestNoStore))
        #expect(verdict(304, asked: ["Cache-Control: no-store"]) == .pass(.requestNoStore))
        #expect(verdict(asked: ["Cache-Control: no-cache"]) == .keep)
    }

    @Test(arguments: ["*", "Accept, *", " * "])
    func varyStarMatchesNoRequest(value: String) {
        #expect(verdict(200, ["Vary: \(value)"]) == .drop(.varyAny))
    }

    @Test(arguments: [
        (ResponseFraming.length(5), StoringRule.Verdict.keep), (.chunked, .keep), (.none, .keep),
        (.untilClose, .pass(.endUnknown)),
    ])
    func aBodyWhoseEndIsTheCloseIsNotKept(framing: ResponseFraming, expected: StoringRule.Verdict) {
        #expect(verdict(framing: framing) == expected)
    }
}
