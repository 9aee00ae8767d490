import Testing

@testable import LayoverHTTP

struct RetryAfterTests {
    private static let now = 784_111_777

    private static func head(_ fields: String...) throws -> ResponseHead {
        var assembler = ResponseHeadAssembler()
        assembler.reset(isHeadRequest: false)
        let heads = try responseHeads((["HTTP/1.1 503 X"] + fields + ["", ""]).joined(separator: "\r\n"), to: &assembler)
        return try #require(heads.first)
    }

    @Test(arguments: [
        ("Retry-After: 120", 120.0), ("retry-after:0", 0), ("Retry-After: 99999999999999999999999", 2_147_483_647),
        ("Retry-After: Sun, 06 Nov 1994 08:50:07 GMT", 30), ("Retry-After: Sun, 06 Nov 1994 08:00:00 GMT", 0),
        ("Retry-After-Ms: 1500", 1.5),
    ])
    func secondsDatesAndMillisecondsAreRead(field: String, seconds: Double) throws {
        #expect(try Self.head(field).retryAfter(now: Self.now) == .milliseconds(seconds * 1000))
    }

    @Test(arguments: ["Retry-After: soon", "Retry-After: -1", "Retry-After:", "Retry-After: 1.5", "Retry-After-Ms: x", "X: 1"])
    func unreadableRetryAfterIsIgnored(field: String) throws {
        #expect(try Self.head(field).retryAfter(now: Self.now) == nil)
    }

    @Test func aDateCountsFromTheOriginsOwnClock() throws {
        let head = try Self.head("Date: Sun, 06 Nov 1994 08:00:00 GMT", "Retry-After: Sun, 06 Nov 1994 08:00:10 GMT")
        #expect(head.retryAfter(now: Self.now) == .seconds(10))
    }

    @Test func xShouldRetryFalseForbidsTheRetry() throws {
        #expect(try Self.head("X-Should-Retry: FALSE").forbidsRetry)
        #expect(try !Self.head("X-Should-Retry: true").forbidsRetry)
        #expect(try !Self.head("X: y").forbidsRetry)
    }
}
