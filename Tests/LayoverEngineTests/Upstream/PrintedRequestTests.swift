import LayoverCore
import LayoverHTTP
import NIOCore
import Testing

@testable import LayoverEngine

/// What is printed of requests. A buffer prints its bytes in hexadecimal, and fields hold credentials.
struct PrintedRequestTests {
    private static let fields = RequestFields(dictionaryLiteral: ("Authorization", "Bearer hush"))
    private static let origin = Origin(scheme: .http, host: "a.example")

    /// Alone, and as a part of something.
    private func expectHidden<Value>(_ value: Value) {
        let hexadecimal = "hush".utf8.map { String($0, radix: 16) }.joined()
        for text in ["\(value)", String(reflecting: value), "\([value])"] {
            #expect(text.contains("27 bytes of fields"), "\(text)")
            #expect(!text.contains("hush") && !text.contains(hexadecimal), "\(text)")
        }
    }

    @Test func requestGoingUpstreamPrintsWithoutItsFields() {
        let request = UpstreamRequest(
            purpose: .transfer, origin: Self.origin, method: "GET", target: "/p?key=hush", host: "a.example",
            fields: Self.fields, mayBeSentTwice: true)
        expectHidden(request)
        #expect("\(request)".hasPrefix("GET http://a.example/p?key=***, "))
    }

    @Test func storedRequestPrintsWithoutItsFieldsAndItsBody() {
        let request = StoredRequest(
            origin: Self.origin, method: "PUT", target: "/p?key=hush", host: "a.example", fields: Self.fields,
            body: .inline(ByteBuffer(string: "hush")), hasBody: true)
        expectHidden(request)
        #expect("\(request)".hasPrefix("PUT http://a.example/p?key=***, "))
        #expect("\(request)".hasSuffix(", 4 bytes of body"))
    }

    @Test func heldBodyPrintsWithoutItsFields() {
        expectHidden(HeldBody(body: nil, fields: Self.fields))
    }
}
