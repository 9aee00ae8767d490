import LayoverHTTP
import NIOCore
import Testing

struct ViaTests {
    private func via(_ head: RequestHead) -> String {
        var out = RequestFields()
        head.writeVia(into: &out, own: latin1("layover-0a"))
        return out.lines.visible
    }

    @Test func ownMemberIsTheLast() throws {
        #expect(try via(requestHead(fields: "X: 1")) == "Via: 1.1 layover-0a|")
        #expect(
            try via(requestHead(fields: "Via: 1.0 a (x, y)", "via:", "VIA: 1.1 b"))
                == "Via: 1.0 a (x, y), 1.1 b, 1.1 layover-0a|")
    }

    @Test func ownMemberSaysHowTheRequestWasReceived() throws {
        #expect(try via(requestHead(fields: "X: 1", version: "1.0")) == "Via: 1.0 layover-0a|")
        #expect(try via(requestHead("GET / HTTP/1.1\r\nHost: a\r\n\r\n", isHTTP2: true)) == "Via: 2 layover-0a|")
    }

    @Test(arguments: [
        "1.1 layover-0a", "1.0 a, 1.1 layover-0a", "1.1 layover-0a (c)", "HTTP/1.1 \t layover-0a,1.1 b", "1.1 a (b), 1.1 layover-0a",
        "1.1 a (b (c) \\) d), 1.1 layover-0a", ", ,1.1 layover-0a", "1.1 a (never closed, 1.1 layover-0a", "1.1 layover-0a(c)", "1.1 a ) , 1.1 layover-0a",
    ])
    func ownTokenIsFound(value: String) throws {
        #expect(try requestHead(fields: "Via: 1.1 x", "Via: \(value)").hasViaToken(latin1("layover-0a")))
    }

    @Test(arguments: [
        "1.1 layover", "1.1 layover-0ab", "1.1 a (layover-0a)", "1.1 a (1.1 layover-0a, 1.1 layover-0a)", "layover-0a 1.1", "1.1 a (x, 1.1 layover-0a , y)", "1.1 a (b (c, 1.1 layover-0a ,) d, 1.1 layover-0a ,)", "layover-0a",
        "1.1 Layover-0a", "1.1 a, layover-0a", "1.1 a layover-0a", "", "1.1 layover-0a:8080", "1.1 (c) layover-0a",
    ])
    func otherTokensAreNotTheOwnOne(value: String) throws {
        #expect(try !requestHead(fields: "Via: \(value)").hasViaToken(latin1("layover-0a")))
    }
}
