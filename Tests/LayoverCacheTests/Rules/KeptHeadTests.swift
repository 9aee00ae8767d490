import LayoverHTTP
import NIOCore
import Testing

@testable import LayoverCache

struct KeptHeadTests {
    private static func kept(_ fields: [String], status: Int = 200) -> ByteBuffer {
        let head = ResponseHead.made(status, fields)
        return KeptHead.make(of: ResponseFacts(head), bytes: head.bytes)
    }

    private func lines(_ head: ByteBuffer?) -> [String] {
        String(buffer: head ?? ByteBuffer()).split(separator: "\r\n").map { String($0) }
    }

    @Test func fieldsOfOneConnectionAreNotKept() {
        let kept = Self.kept([
            "Set-Cookie: secret=1", "set-cookie2: x", "Age: 5", "Trailer: X", "X-A: 1", "Via: 1.1 b", "X-B: 2",
            "Cache-Control: no-cache=\"x-b\"",
        ])
        #expect(lines(kept) == ["HTTP/1.1 200 Word", "X-A: 1", "Via: 1.1 b", "Cache-Control: no-cache=\"x-b\""])
    }

    @Test func theWholeIsSentWithItsAgeAndLength() throws {
        let head = try #require(KeptHead.assembled(Self.kept(["X-A: \u{FF}b"]), age: 7, .whole(byteCount: 12)))
        #expect(head.status == 200)
        #expect(head.framing == .length(12))
        #expect(lines(head.bytes) == ["HTTP/1.1 200 Word", "X-A: \u{FF}b", "Age: 7"])
    }

    /// `limits.headerBytes` may admit more than the assembler does by default.
    @Test func bigHeadIsReadBack() throws {
        let line = "X-A: " + String(repeating: "a", count: 200_000)
        let kept = ByteBuffer(string: "HTTP/1.1 200 Word\r\n\(line)\r\n")
        let head = try #require(KeptHead.assembled(kept, age: 7, .whole(byteCount: 12)))
        #expect(lines(head.bytes) == ["HTTP/1.1 200 Word", line, "Age: 7"])
    }

    @Test func responseToHeadStatesTheLength() throws {
        let head = try #require(KeptHead.assembled(Self.kept(["X-A: 1"]), age: 0, .headOnly(byteCount: 12)))
        #expect(head.framing == .none)
        #expect(head.text("content-length") == "12")
        let unknown = try #require(KeptHead.assembled(Self.kept(["X-A: 1"]), age: 0, .headOnly(byteCount: nil)))
        #expect(unknown.text("content-length") == nil)
    }

    @Test func noContentHasNoLength() throws {
        let head = try #require(KeptHead.assembled(Self.kept([], status: 204), age: 0, .whole(byteCount: 0)))
        #expect(head.framing == .none)
        #expect(head.contentLength == nil)
    }

    @Test func notModifiedHasItsRequiredFields() throws {
        let kept = Self.kept([
            "ETag: \"v\"", "Content-Type: text/plain", "Cache-Control: max-age=1", "X-A: 1", "Vary: Accept",
            "Date: Thu, 01 Jan 2026 00:00:00 GMT",
        ])
        let head = try #require(KeptHead.assembled(kept, age: 3, .notModified))
        #expect(head.status == 304)
        #expect(head.framing == .none)
        #expect(
            lines(head.bytes) == [
                "HTTP/1.1 304 Not Modified", "ETag: \"v\"", "Cache-Control: max-age=1", "Vary: Accept",
                "Date: Thu, 01 Jan 2026 00:00:00 GMT", "Age: 3",
            ])
    }

    @Test func damagedBytesAreNoHead() {
        #expect(KeptHead.assembled(ByteBuffer(string: "nonsense\r\n"), age: 0, .whole(byteCount: 1)) == nil)
        #expect(KeptHead.assembled(ByteBuffer(), age: 0, .whole(byteCount: 1)) == nil)
        #expect(KeptHead.assembled(ByteBuffer(string: "HTTP/1.1 200 OK\r\nX A: 1\r\n"), age: 0, .whole(byteCount: 1)) == nil)
    }

    // MARK: Renewal

    private func renewed(_ kept: [String], _ answer: [String]) -> [String]? {
        let head = ResponseHead.made(304, answer)
        return KeptHead.renewed(Self.kept(kept), by: ResponseFacts(head), bytes: head.bytes).map { lines($0) }
    }

    @Test func confirmationReplacesItsFields() {
        #expect(
            renewed(
                ["ETag: \"v\"", "X-A: 1", "Cache-Control: max-age=1", "Content-Type: a/b"],
                ["ETag: W/\"v\"", "Cache-Control: max-age=9", "Content-Type: c/d", "Set-Cookie: s=1", "Age: 4"])
                == ["HTTP/1.1 200 Word", "X-A: 1", "Content-Type: a/b", "ETag: W/\"v\"", "Cache-Control: max-age=9"])
    }

    @Test(arguments: [
        (["ETag: \"v\""], ["ETag: \"w\""], false), (["X: 1"], ["ETag: \"v\""], false), (["ETag: \"v\""], [], false),
        (["Last-Modified: a"], ["Last-Modified: a"], true), (["Last-Modified: a"], ["Last-Modified: b"], false),
        (["Last-Modified: a", "ETag: \"v\""], ["Last-Modified: a"], false), ([], [], true),
    ])
    func aConfirmationOfSomethingElseChangesNothing(kept: [String], answer: [String], isRenewed: Bool) {
        #expect((renewed(kept, answer) != nil) == isRenewed)
    }
}
