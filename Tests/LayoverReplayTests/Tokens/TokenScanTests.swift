import NIOCore
import Testing

@testable import LayoverReplay

struct TokenScanTests {
    @Test func parentsAreListedOnceInOrderOfFirstAppearance() throws {
        let request = TokenRequest(
            target: "/cards/~ticket.\(two).json.id~?q=~ticket.\(one).location~",
            fields: requestLines("If-Match: ~ticket.\(two).field.ETag~", "Content-Type: application/json", "Idempotency-Key: ~uuid~"),
            body: .init(string: #"{"a":"~ticket.\#(one).json.items.0.name~"}"#))
        let scan = try TokenScan(request)
        #expect(scan.parents == [two, one])
        #expect(scan.usesUUID)
        #expect(scan.isInBody)
        #expect(scan.hasTokens)
    }

    @Test(arguments: [
        "/~user/", "/~", "/~~", "/~uuid", "/~UUID~", "/~ticket/~", "/~ticketoffice.html", "/a~b~c", "/%7Euser", "/%7", "/%7Euuid",
        "/~uuid-~", "/x?Signature=nitfHRCrtziwO2HwPfWw~yYDhUF5EwRunQA-j19DzZr~vDh6hQ73lDx~", "*", "/%zz~",
    ])
    func otherTildesAreOrdinaryText(target: String) throws {
        #expect(try TokenScan(.get(target)).hasTokens == false)
    }

    @Test(arguments: [
        "~ticket.zz.location~", "~ticket.~", "~ticket.\(one)~", "~ticket.\(one).~", "~ticket.\(one).locations~",
        "~ticket.\(one).location.~", "~ticket.\(one).location", "~ticket.\(one).location/pictures", "~ticket.\(one).field~",
        "~ticket.\(one).field.~", "~ticket.\(one).field.a(b)~", "~ticket.\(one).json~", "~ticket.\(one).json.~",
        "~ticket.\(one).json..a~", "~ticket.\(one).json.a.~", "~ticket.\(one).json.a%2~", "~ticket.\(one).json.a%zz~",
        "~ticket.\(one).json.%ff~", "~ticket.\(one.uppercased()).location~", "~ticket.\(one)0.location~", "~ticket.html",
    ])
    func malformedTicketTokenIsRefused(text: String) {
        #expect(tokenError { try TokenScan(.get("/x?y=" + text)) }?.code == .malformed)
        #expect(tokenError { try TokenScan(.get("/", requestLines("X-Parent: " + text))) }?.code == .malformed)
        #expect(tokenError { try TokenScan(.json("[\"\(text)\"]")) }?.code == .malformed)
        // The text is decoded first in a form, so a wrong percent sign must be written as one.
        let form = text.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%25")
        #expect(tokenError { try TokenScan(.form("a=" + form)) }?.code == .malformed)
    }

    /// Such a body would be sent unchanged, and is not JSON.
    @Test(arguments: [
        #"{"card": ~ticket.\#(one).json.id~}"#, #"{"card":"a","key": ~uuid~ }"#, "~uuid~", #"["a"~ticket.x~"#,
    ])
    func aTokenOutsideOfTheStringsOfJSONIsRefused(body: String) {
        let error = tokenError { try TokenScan(.json(body)) }
        #expect(error?.code == .malformed)
        #expect(error?.description.contains("inside a string") == true)
    }

    @Test func refusalsNameThePlaceAndNeverQuoteIt() throws {
        let error = try #require(tokenError { try TokenScan(.get("/", requestLines("Authorization: Bearer ~ticket.hunter2~"))) })
        #expect(error.description == "A token in the field Authorization does not name a ticket (32 hexadecimal digits in lower case).")
    }

    @Test(arguments: [
        ("json.a", Token.Part.json(["a"])), ("json.a.0.b", .json(["a", "0", "b"])), ("json.a%2Eb.c", .json(["a.b", "c"])),
        ("json.%7E%25%2e", .json(["~%."])), ("json.%C3%A4%22", .json(["ä\""])), ("json.@odata:id", .json(["@odata:id"])),
        ("json.$ref", .json(["$ref"])), ("field.ETag", .field("etag")), ("field.X%7EY", .field("x~y")),
        ("field.a.b", .field("a.b")), ("location", .location),
    ])
    func namesAndKeysAreDecoded(text: String, part: Token.Part) throws {
        let found = try TokenFinder.target(ByteBuffer(string: "/?~ticket.\(one).\(text)~"), limits: .init())
        #expect(found.map(\.token) == [.ticket(id: one, part)])
        // The description of a token is a token again.
        let again = try TokenFinder.target(ByteBuffer(string: "/?\(found[0].token)"), limits: .init())
        #expect(again.map(\.token) == found.map(\.token))
    }

    @Test func tokensMayBeSpelledAsTheirPlaceSpellsText() throws {
        let id = Token.ticket(id: one, .json(["a.b"]))
        #expect(try found(.form("x=%7Eticket.\(one).json.a%252Eb%7E")) == [id])
        #expect(try found(.form("x=~ticket.\(one).json.a%252Eb~")) == [id])
        #expect(try found(.form("~uuid~=1&x=%7euuid%7e")) == [.uuid, .uuid])
        #expect(try found(.json(#"{"\u007eticket.\#(one).json.a%2Eb~":"\u007Euu\u0069d\u007e"}"#)) == [id, .uuid])
        #expect(try found(.get("/?x=%7Eticket.\(one).json.a%252Eb%7E")) == [id])
        #expect(try found(.get("/?x=~ticket.\(one).json.a%2Eb~")) == [id])
    }

    private func found(_ request: TokenRequest) throws -> [Token] { try RequestTokens(request, limits: .init()).all }

    @Test func inJSONTokensStandInStringsOnly() throws {
        #expect(try found(.json(#"["\\u007euuid~", "\"~uuid~", "\\"]"#)) == [.uuid])
        #expect(try found(.json(#"["a","~uuid"],"~"#)) == [])
        #expect(try found(.json("\"~uuid~")) == [.uuid])
        #expect(try found(.json("\"\\")) == [])
    }

    @Test func aTokenDoesNotReachBeyondItsString() {
        #expect(tokenError { try TokenScan(.json(#"["~ticket.\#(one).loc","ation~"]"#)) }?.code == .malformed)
    }

    @Test(arguments: [
        ("text/plain", "", false), ("application/octet-stream", "", false), ("application/json", "", true),
        ("Application/JSON; charset=utf-8", "", true), ("application/problem+json", "", true), ("text/json+x", "", false),
        ("application/x-www-form-urlencoded;charset=UTF-8", "", true), ("application/json", "gzip", false),
        ("application/json", "Identity", true), ("multipart/form-data; boundary=x", "", false), ("", "", false),
    ])
    func onlyJSONAndFormsHaveTokensInTheirBodies(type: String, coding: String, isFound: Bool) throws {
        let request = TokenRequest(
            target: "/", fields: requestLines("content-TYPE: \(type)", "Content-Encoding: \(coding)"),
            body: .init(string: "\"~uuid~\""))
        #expect(try TokenScan(request).isInBody == isFound)
    }

    @Test func fieldNamesHaveNoTokens() throws {
        #expect(try TokenScan(.get("/", requestLines("X~uuid~: 1", "Y~uuid~;"))).hasTokens == false)
    }

    @Test func aLocationInThePathBeginsItsOnlySegment() throws {
        let token = "~ticket.\(one).location~"
        #expect(try TokenScan(.get("/base/\(token)/x?y=\(token)")).parents == [one])
        #expect(tokenError { try TokenScan(.get("/a-\(token)")) }?.code == .malformed)
        #expect(tokenError { try TokenScan(.get(token)) }?.code == .malformed)
        #expect(tokenError { try TokenScan(.get("/\(token)/\(token)")) }?.code == .malformed)
    }

    @Test func limitsAreKept() throws {
        var limits = TokenLimits()
        limits.tokenCountMax = 2
        limits.tokenByteCountMax = 100
        limits.bodyByteCountMax = 19
        limits.jsonDepthMax = 3
        func code(_ request: TokenRequest) -> TokenError.Code? { tokenError { try TokenScan(request, limits: limits) }?.code }
        #expect(code(.get("/~uuid~~uuid~")) == nil)
        #expect(code(.get("/~uuid~~uuid~~uuid~")) == .limit)
        #expect(code(.get("/~uuid~~uuid~", requestLines("A: ~uuid~"))) == .limit)
        #expect(code(.get("/~ticket.\(one).json.\(String(repeating: "a", count: 200))~")) == .limit)
        #expect(code(.get("/~ticket.\(one).json.a.b.c~")) == nil)
        #expect(code(.get("/~ticket.\(one).json.a.b.c.d~")) == .limit)
        #expect(code(.json("[\"~uuid~\",12345678]")) == nil)
        #expect(code(.json("[\"~uuid~\",123456789]")) == .limit)
        #expect(code(.json("[\"~uuid\",123456789012345]")) == nil)
    }
}
