import NIOCore
import Testing

@testable import LayoverReplay

struct SubstitutionTests {
    private let located = ParentResponse.created(
        responseLines("Server: x", "Location: /v1/cards/7", "ETag: \"a b\""), body: #"{"id":7,"s":"a/b ü\"\\&=","e":"","d":"..","n":null}"#)
    private let location = "~ticket.\(one).location~"

    private func target(_ target: String, _ response: ParentResponse) throws -> String {
        try Substitution(response).applied(to: .get(target)).target
    }

    private func json(_ key: String) -> String { "~ticket.\(one).json.\(key)~" }

    // MARK: Target

    @Test func valuesInATargetArePercentEncoded() throws {
        #expect(try target("/cards/\(json("id"))/pictures", located) == "/cards/7/pictures")
        #expect(try target("/c/\(json("s"))?x=\(json("s"))&y", located) == "/c/a%2Fb%20%C3%BC%22%5C%26%3D?x=a%2Fb%20%C3%BC%22%5C%26%3D&y")
        #expect(try target("/c?x=%7Eticket.\(one).json.id%7E&\(json("e"))", located) == "/c?x=7&")
        #expect(try target("/c?back=\(location)", located) == "/c?back=https%3A%2F%2Fapi.example.com%2Fv1%2Fcards%2F7")
        #expect(try target("/c/~uuid~/~uuid~/~user", located) == "/c/\(uuid)/\(uuid)/~user")
    }

    @Test(arguments: [
        ("/v1/cards/7", "/@", "/v1/cards/7"), ("/v1/cards/7", "/@/pictures", "/v1/cards/7/pictures"),
        ("https://API.example.com:443/v1/cards/7", "/@", "/v1/cards/7"), ("7", "/@", "/v1/7"), ("cards/7/", "/@/pictures", "/v1/cards/7/pictures"),
        ("//api.example.com/x", "/@", "/x"), ("https://api.example.com", "/@", "/"), ("https://api.example.com?a", "/@", "/?a"),
        ("/x#part", "/@", "/x"), ("/x?a=1", "/@?b=2", "/x?a=1&b=2"), ("/x", "/@?b=2", "/x?b=2"), ("/x?", "/@", "/x?"),
        ("/x", "/base/of/route/@/y", "/x/y"), ("/a b/ü", "/@", "/a%20b/%C3%BC"), ("/x", "/@.json?i=~uuid~", "/x.json?i=\(uuid)"), ("/x", "/@?", "/x?"),
        ("../../..//x", "/@", "//x"),
    ])
    func aLocationReplacesThePath(field: String, template: String, result: String) throws {
        let template = template.split(separator: "@", omittingEmptySubsequences: false).joined(separator: location)
        #expect(try target(template, .created(responseLines("Location: " + field))) == result)
    }

    @Test(arguments: [
        "https://evil.example/x", "http://api.example.com/x", "https://api.example.com:8443/x", "//evil.example/x", "ftp://api.example.com/",
        "https://api.example.com@evil.example/", #"https://api.example.com\@evil.example/"#, "urn:x", "https:x", "https://api.example.com.evil.example/",
        "https:///x",
    ])
    func aLocationAtAnotherOriginIsRejected(field: String) throws {
        let error = try #require(tokenError { try target("/" + location, .created(responseLines("Location: " + field))) })
        #expect(error.code == .rejected)
        #expect(error.description == "The location that \(location) stands for is not at the origin that the request was accepted for.")
        // In a query it is only text.
        #expect(try target("/?x=" + location, .created(responseLines("Location: " + field))).hasPrefix("/?x="))
    }

    @Test(arguments: [("/x?a", "/@/y"), ("/x\u{1}", "/@")])
    func aLocationThatMakesNoTargetIsRejected(field: String, template: String) throws {
        let template = template.split(separator: "@", omittingEmptySubsequences: false).joined(separator: location)
        #expect(tokenError { try target(template, .created(responseLines("Location: " + field))) }?.code == .rejected)
    }

    @Test(arguments: ["e", "d"])
    func aValueThatWouldChangeThePathIsRejected(key: String) throws {
        #expect(tokenError { try target("/cards/\(json(key))/x", located) }?.code == .rejected)
        #expect(try target("/cards?x=\(json(key))", located).hasPrefix("/cards?x="))
    }

    // MARK: Fields

    @Test func valuesInFieldsAreUnchanged() throws {
        let fields = requestLines("A: 1", "If-Match:  ~ticket.\(one).field.etag~ ", "B: ", "C: x~uuid~y \(json("id"))", "D: \(location)", "E: \(json("e"))", "broken")
        let result = try Substitution(located).applied(to: .get("/", fields))
        #expect(
            result.fields
                == requestLines("A: 1", "If-Match:  \"a b\"", "B: ", "C: x\(uuid)y 7", "D: https://api.example.com/v1/cards/7", "E: ", "broken"))
    }

    @Test(arguments: [#"a\nb"#, #"a\r"#, #"\u0000"#, #"\u007f"#])
    func aLineBreakInAFieldIsRejected(text: String) throws {
        let request = TokenRequest.get("/", requestLines("X: \(json("x"))"))
        let error = try #require(tokenError { try Substitution(.created(body: "{\"x\":\"\(text)\"}")).applied(to: request) })
        #expect(error.code == .rejected)
        #expect(error.description == "The value of \(json("x")) has a line break or another control character, so it is not allowed in the field X.")
    }

    // MARK: Bodies

    @Test func valuesInJSONAreEscaped() throws {
        let request = TokenRequest.json(#"{"\#(json("id"))": "<\#(json("s"))>", "n": [1.0, "\u007euuid~", "~"]}"#)
        let body = try Substitution(located).applied(to: request).body
        #expect(body == ByteBuffer(string: #"{"7": "<a/b ü\"\\&=>", "n": [1.0, "\#(uuid)", "~"]}"#))
    }

    @Test func everyControlCharacterIsEscapedInJSON() throws {
        var fields = ByteBuffer(string: "X: ")
        let controls = (UInt8(1)..<0x20).filter { $0 != 9 && $0 != 10 && $0 != 13 }
        fields.writeBytes([0x21] + controls + [9, 0x7F, 13, 10])
        let response = ParentResponse(status: 200, fields: fields, requestURL: "https://api.example.com/", body: nil)
        let body = try Substitution(response).applied(to: .json("[\"~ticket.\(one).field.x~\"]")).body
        let escapes = controls.map { "\\u00" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(body == ByteBuffer(string: "[\"!\(escapes)\\t\u{7F}\"]"))
    }

    @Test func valuesInAFormAreEncodedAsAFormDoes() throws {
        let request = TokenRequest.form("a=\(json("s"))&%7Euuid%7E=~&b=1+2")
        let body = try Substitution(located).applied(to: request).body
        #expect(body == ByteBuffer(string: "a=a%2Fb+%C3%BC%22%5C%26%3D&\(uuid)=~&b=1+2"))
    }

    @Test func valueThatIsNotUTF8IsRejectedInJSON() throws {
        var fields = ByteBuffer(string: "X: ")
        fields.writeBytes([0xFF, 13, 10])
        let response = ParentResponse(status: 200, fields: fields, requestURL: "https://api.example.com/", body: nil)
        let token = "~ticket.\(one).field.x~"
        #expect(tokenError { try Substitution(response).applied(to: .json("\"\(token)\"")) }?.code == .rejected)
        #expect(try target("/" + token, response) == "/%FF")
        #expect(try Substitution(response).applied(to: .form("a=" + token)).body == ByteBuffer(string: "a=%FF"))
    }

    // MARK: Rules

    @Test func aValueIsNotReadAgain() throws {
        let response = ParentResponse.created(body: #"{"x":"~uuid~ ~ticket.zz~"}"#)
        #expect(try Substitution(response).applied(to: .json("[\"\(json("x"))\"]")).body == ByteBuffer(string: "[\"~uuid~ ~ticket.zz~\"]"))
    }

    @Test func tokensToBeReplacedLaterStay() throws {
        let request = TokenRequest(
            target: "/~uuid~/\(location)/x", fields: requestLines("A: ~uuid~ \(json("id"))", "B: \(json("id"))"), body: nil)
        let uuidOnly = Substitution(values: TokenValues(parents: nil, uuid: uuid), origin: "https://api.example.com")
        let first = try uuidOnly.applied(to: request)
        #expect(first.target == "/\(uuid)/\(location)/x")
        #expect(first.fields == requestLines("A: \(uuid) \(json("id"))", "B: \(json("id"))"))
        let ticketsOnly = Substitution(values: TokenValues(parents: [one: located], uuid: nil), origin: "https://api.example.com")
        let second = try ticketsOnly.applied(to: first)
        #expect(second.target == "/v1/cards/7/x")
        #expect(second.fields == requestLines("A: \(uuid) 7", "B: 7"))
        #expect(try ticketsOnly.applied(to: request).fields == requestLines("A: ~uuid~ 7", "B: 7"))
    }

    @Test func limitsAreKept() throws {
        var limits = TokenLimits()
        limits.valueByteCountMax = 10
        limits.headByteCountMax = 40
        let response = ParentResponse.created(body: #"{"a":"01234567890","b":"          "}"#)
        func code(_ request: TokenRequest) -> TokenError.Code? {
            tokenError { try Substitution(response, limits: limits).applied(to: request) }?.code
        }
        #expect(code(.json("[\"\(json("a"))\"]")) == .rejected)
        #expect(code(.json("[\"\(json("b"))\"]")) == nil)
        #expect(code(.get("/\(json("b"))")) == nil)
        #expect(code(.get("/\(json("b"))\(json("b"))")) == .rejected)
        #expect(code(.get("/", requestLines("A: \(String(repeating: "x", count: 30))\(json("b"))"))) == .rejected)
    }
}
