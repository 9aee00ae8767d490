import Testing

@testable import LayoverCore

struct RequestSummaryTests {
    private static let bodies: [RequestSummary.Body] = [.none, .arriving, .captured, .lost, .brokenOff]

    @Test(arguments: [
        ("GET", true), ("HEAD", true), ("OPTIONS", true), ("TRACE", true), ("PUT", true), ("DELETE", true),
        ("POST", false), ("PATCH", false), ("CONNECT", false), ("get", false), ("PROPFIND", false),
        ("", false),
    ])
    func idempotentMethodsMayBeSentTwice(method: String, isIdempotent: Bool) {
        #expect(RequestSummary(method: method).mayBeSentTwice == isIdempotent)
        #expect(RequestSummary(method: method, hasIdempotencyKey: true).mayBeSentTwice)
        #expect(RequestSummary(method: method, declaredRepeatable: true).mayBeSentTwice)
        for body in Self.bodies {
            let isWhole = body == .none || body == .captured
            #expect(RequestSummary(method: method, body: body).isRepeatable == (isIdempotent && isWhole))
        }
    }

    @Test func firstAttemptNeedsItsBodyFromTheStart() {
        let able = Self.bodies.filter { RequestSummary(method: "POST", body: $0).canBeSentFromTheStart }
        #expect(able == [.none, .arriving, .captured])
    }
}
