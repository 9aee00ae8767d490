import LayoverHTTP
import NIOCore
import Testing

struct RequestHeadTests {
    @Test(arguments: [
        ("GET http://A.Example:80/p?q", "/p?q", "a.example:80"), ("GET http://a", "/", "a"), ("GET https://a?q", "/?q", "a"),
        ("OPTIONS http://a", "*", "a"), ("OPTIONS http://a/", "/", "a"), ("GET http://[::FF]:1/x", "/x", "[::ff]:1"),
        ("CONNECT A:443", "", "a:443"), ("GET /x?y", "/x?y", nil), ("OPTIONS *", "*", nil),
    ])
    func targetIsTakenApart(start: String, originForm: String, authority: String?) throws {
        let head = try requestHead("\(start) HTTP/1.1\r\nHost: b.example:8080\r\n\r\n")
        var out = ByteBuffer()
        head.writeOriginForm(into: &out)
        #expect(String(buffer: out) == originForm)
        #expect(head.targetAuthority?.description == authority)
        #expect(head.hostAuthority == Authority(host: "b.example", port: 8080))
        #expect((head.authorityRange == nil) == (authority == nil))
        #expect("\(head.methodString) \(head.targetString)" == start)
    }

    @Test func userinfoOfAnAbsoluteTargetIsSkipped() throws {
        let head = try requestHead("GET http://me:s%40cret@A:80/p?q=x@y HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(head.targetString == "http://A:80/p?q=x@y")
        #expect(head.targetAuthority == Authority(host: "a", port: 80))
        let range = try #require(head.authorityRange)
        #expect(head.equals(range, latin1("A:80")))
        #expect(!head.equals(range, latin1("a:80")))
        #expect(!head.equals(range, latin1("A:8")))
        var out = ByteBuffer()
        head.writeOriginForm(into: &out)
        #expect(String(buffer: out) == "/p?q=x@y")
    }

    @Test(arguments: [
        ("GET", Method.get), ("HEAD", .head), ("POST", .post), ("PUT", .put), ("DELETE", .delete), ("OPTIONS", .options),
        ("TRACE", .trace), ("PATCH", .patch), ("get", .other), ("GETS", .other), ("Trace", .other), ("M", .other),
    ])
    func methodIsRecognisedInItsOwnCase(name: String, method: Method) throws {
        #expect(try requestHead(fields: "A: 1", method: name).method == method)
    }

    @Test(arguments: [
        ("1.1", "X: 1", true), ("1.1", "Connection: close", false), ("1.1", "Connection: a, CLOSE", false), ("1.1", "Connection: closed", true),
        ("1.1", "Proxy-Connection: close", false), ("1.1", "Proxy-Connection: keep-alive", true), ("1.0", "Connection: keep-alive", false), ("1.0", "X: 1", false),
    ])
    func persistenceFollowsVersionAndConnection(version: String, line: String, keepAlive: Bool) throws {
        #expect(try requestHead(fields: line, version: version).keepAlive == keepAlive)
    }

    @Test(arguments: [
        ("1.1", "100-continue", "3", true, false), ("1.1", "100-CONTINUE", "3", true, false), ("1.1", "100-continue", "0", false, false),
        ("1.0", "100-continue", "3", false, false), ("1.1", "200-ok", "3", false, true), ("1.1", "", "3", false, true), ("1.0", "x", "3", false, false),
    ])
    func expectationIsRead(version: String, value: String, length: String, expects: Bool, isUnknown: Bool) throws {
        let head = try requestHead(fields: "Expect: \(value)", "Content-Length: \(length)", method: "PUT", version: version)
        #expect(head.expectsContinue == expects)
        #expect(head.hasUnknownExpectation == isUnknown)
        #expect(head.passesExpectOn == (length == "0" && version == "1.1"))
    }

    @Test func fieldsAreFoundByName() throws {
        let head = try requestHead(fields: "X-One: 1", "ACCEPT: a", "accept: b", "Prefer: wait=3", "User-Agent:")
        #expect(head.fields.count == 6)
        #expect(head.fields.string(.prefer) == "wait=3")
        #expect(head.fields.string(.userAgent) == "")
        #expect(head.fields.string(.cookie) == nil)
        #expect(head.fields.values(of: "Accept").map(head.fields.string) == ["a", "b"])
        #expect(head.fields.values(.host).map(head.fields.string) == ["a"])
        #expect(head.fields.contains("x-oNe") && !head.fields.contains("x-on"))
    }

    @Test func everyKnownNameIsRecognisedInAnyCase() throws {
        // A transfer coding cannot stand in such a head.
        for field in KnownField.allCases where ![.other, .layover, .transferEncoding].contains(field) {
            // The names of the cases are the names of the fields, but for their hyphens.
            let name = "\(field)".reduce(into: "") { $0 += $1.isUppercase ? "-\($1)" : "\($1)" }
            let spelled = field == .http2Settings ? "http2-settings" : name
            for spelling in [spelled.lowercased(), spelled.uppercased()] {
                let value = field == .host ? "a" : "1"
                let text = "GET / HTTP/1.0\r\n\(spelling): \(value)\r\n\r\n"
                #expect(try requestHead(text).fields.contains(field), "\(spelling)")
            }
        }
    }

    /// A buffer prints its bytes in hexadecimal.
    @Test func headAndFieldsDoNotPrintTheirValues() throws {
        let head = try requestHead(fields: "Authorization: Bearer hush")
        let hexadecimal = "hush".utf8.map { String($0, radix: 16) }.joined()
        for text in ["\(head)", "\(head.fields)", String(reflecting: [head.fields])] {
            #expect(text.contains("2 fields, "))
            #expect(!text.contains("hush") && !text.contains(hexadecimal), "\(text)")
        }
        #expect("\(head)".hasPrefix("get, "))
    }
}
