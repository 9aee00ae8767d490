import Testing

@testable import LayoverCache

/// RFC 9111 section 4.3.2, RFC 9110 section 13.
struct PreconditionTests {
    private static let modified = "Last-Modified: Wed, 31 Dec 2025 12:00:00 GMT"

    private func verdict(
        _ asked: [String], answer: [String] = ["ETag: \"v1\"", modified], status: Int = 200
    ) -> Precondition.Verdict {
        Precondition.verdict(on: .made(status, answer), answeredAt: newYear, to: .made(asked))
    }

    @Test(arguments: [
        ("\"v1\"", Precondition.Verdict.notModified), ("W/\"v1\"", .notModified), ("\"v0\", \"v1\"", .notModified),
        ("*", .notModified), ("\"v2\"", .whole), ("v1", .whole), ("\"a,b\", \"v1\"", .notModified), ("\"a,\"v1\"\"", .whole),
    ])
    func tagsCompareWeakly(value: String, expected: Precondition.Verdict) {
        #expect(verdict(["If-None-Match: \(value)"]) == expected)
        #expect(verdict(["If-None-Match: \(value)"], answer: ["ETag: W/\"v1\""]) == expected)
    }

    @Test func missingTagMatchesOnlyTheStar() {
        #expect(verdict(["If-None-Match: \"v1\""], answer: []) == .whole)
        #expect(verdict(["If-None-Match: *"], answer: []) == .notModified)
    }

    @Test(arguments: [
        ("Wed, 31 Dec 2025 12:00:00 GMT", Precondition.Verdict.notModified),
        ("Wed, 31 Dec 2025 11:59:59 GMT", .whole), ("Thu, 01 Jan 2026 00:00:00 GMT", .notModified), ("never", .whole),
    ])
    func datesCompare(value: String, expected: Precondition.Verdict) {
        #expect(verdict(["If-Modified-Since: \(value)"]) == expected)
    }

    @Test func tagsComeBeforeDates() {
        let dates = "If-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT"
        #expect(verdict(["If-None-Match: \"v2\"", dates]) == .whole)
    }

    @Test func dateReplacesAMissingLastModified() {
        let since = ["If-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT"]
        #expect(verdict(since, answer: ["Date: Thu, 01 Jan 2026 00:00:01 GMT"]) == .whole)
        #expect(verdict(since, answer: ["Date: Thu, 01 Jan 2026 00:00:00 GMT"]) == .notModified)
        #expect(verdict(since, answer: []) == .notModified)
    }

    @Test(arguments: ["If-Match: \"v1\"", "If-Unmodified-Since: Thu, 01 Jan 2026 00:00:00 GMT"])
    func somePreconditionsAreForTheOriginOnly(field: String) {
        #expect(verdict([field, "If-None-Match: \"v1\""]) == .originOnly)
    }

    @Test func aRedirectIsNeverNotModified() {
        #expect(verdict(["If-None-Match: \"v1\""], status: 301) == .whole)
    }

    @Test func aRangeAloneGetsTheWhole() {
        #expect(verdict(["Range: bytes=0-1", "If-Range: \"v1\""]) == .whole)
    }
}
