import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverReplay

struct TokenValuesTests {
    private func value(_ part: Token.Part, _ response: ParentResponse?, limits: TokenLimits = .init()) throws -> String {
        let values = TokenValues(parents: response.map { [one: $0] } ?? [:], uuid: nil, limits: limits)
        return String(decoding: try values.value(of: .ticket(id: one, part)), as: UTF8.self)
    }

    private func refusal(_ part: Token.Part, _ response: ParentResponse?, limits: TokenLimits = .init()) -> TokenError? {
        tokenError { try value(part, response, limits: limits) }
    }

    @Test(arguments: [
        ("https://Other.example/X?y#z", "https://Other.example/X?y#z"), ("https://a/./b", "https://a/./b"), ("/x", "https://api.example.com/x"),
        ("x", "https://api.example.com/v1/x"), ("?x", "https://api.example.com/v1/cards?x"), ("urn:x:y", "urn:x:y"), ("//o/p", "https://o/p"),
    ])
    func aLocationIsMadeAbsolute(field: String, url: String) throws {
        #expect(try value(.location, .created(responseLines("location:\t\(field) "))) == url)
    }

    @Test func fieldsAreJoinedUnlessTheyAreCookies() throws {
        let response = ParentResponse.created(responseLines("X: 1", "Set-Cookie: a=1", "x:2", "Set-Cookie: b=2", "Y:"))
        #expect(try value(.field("x"), response) == "1, 2")
        #expect(try value(.field("y"), response) == "")
        #expect(refusal(.field("set-cookie"), response)?.code == .missing)
        #expect(refusal(.field("z"), response)?.description == "The response to ticket \(one) (status 201) has no field z.")
    }

    @Test func numbersAndBooleansAreTheirText() throws {
        let response = ParentResponse.created(body: #"{"id":12345678901234567890,"ok":true,"x.y":{"~":[1.10]}}"#)
        #expect(try value(.json(["id"]), response) == "12345678901234567890")
        #expect(try value(.json(["ok"]), response) == "true")
        #expect(try value(.json(["x.y", "~", "0"]), response) == "1.10")
    }

    @Test func missingValueIsNamed() {
        let response = ParentResponse.created(body: #"{"o":{},"n":null}"#)
        #expect(refusal(.json(["a", "b.c"]), response)?.description == "The response to ticket \(one) has nothing at json.a.b%2Ec.")
        #expect(
            refusal(.json(["o"]), response)?.description == "The response to ticket \(one) has an object or array at json.o, not a value.")
        #expect(refusal(.json(["n"]), response)?.description == "The response to ticket \(one) has null at json.n.")
        #expect(refusal(.json(["n"]), .created(body: "<html>"))?.description == "The response to ticket \(one) has a body that is not valid JSON.")
        #expect(refusal(.json(["n"]), .created())?.code == .missing)
        #expect(refusal(.location, .created())?.description == "The response to ticket \(one) (status 201) has no Location field.")
        #expect(refusal(.location, .created(responseLines("Location: ")))?.code == .missing)
        #expect(refusal(.location, .created(responseLines("Location: /a", "Location: /a")))?.code == .missing)
        #expect(refusal(.location, nil)?.description == "The response of ticket \(one) is not available.")
    }

    @Test func onlySuccessAndRedirectionProvideValues() throws {
        for (status, isGood) in [(200, true), (303, true), (399, true), (400, false), (404, false), (503, false)] {
            var response = ParentResponse.created(responseLines("Location: /x"))
            response.status = status
            #expect((refusal(.location, response) == nil) == isGood, "\(status)")
        }
    }

    @Test func aCompressedBodyIsNotRead() throws {
        let response = ParentResponse.created(responseLines("Content-Encoding: gzip"), body: #"{"id":1}"#)
        #expect(
            refusal(.json(["id"]), response)?.description
                == "The response to ticket \(one) is compressed, so no value can be read from its body.")
        var decompressed = response
        decompressed.coding = .undone
        #expect(try value(.json(["id"]), decompressed) == "1")
        #expect(try value(.field("content-encoding"), decompressed) == "gzip", "it is what the origin said")
    }

    @Test(arguments: [
        ("", ContentCoding.List.known([])), ("identity, ,\tIdentity ", .known([])), ("x-gzip", .known([.gzip])),
        ("deflate ,gzip", .known([.deflate, .gzip])), ("gzip, br", .unknown(name: "br")), ("my-own", .unknown(name: nil)),
        ("gzip,gzip,gzip", .known([.gzip, .gzip, .gzip])), ("gzip,gzip,gzip,gzip", .unknown(name: nil)),
    ])
    func codingsAreRead(value: String, list: ContentCoding.List) {
        #expect(ContentCoding.list(in: responseLines("Content-Encoding: \(value)")) == list)
    }

    @Test func codingsOfSeveralLinesAreOneList() {
        #expect(
            ContentCoding.list(in: responseLines("Content-Encoding: deflate", "X: y", "content-encoding: gzip"))
                == .known([.deflate, .gzip]))
        #expect(ContentCoding.list(in: .init()) == .known([]))
    }

    @Test func sizesOfResponsesAreLimited() {
        var limits = TokenLimits()
        limits.responseByteCountMax = 20
        limits.jsonDepthMax = 2
        #expect(refusal(.json(["id"]), .created(body: #"{"id":1,"x":[[0]]}"#), limits: limits)?.description == "The response to ticket \(one) is nested deeper than 2 levels.")
        #expect(refusal(.json(["id"]), .created(body: #"{"id":1,"x":[0]}    "#), limits: limits) == nil)
        #expect(refusal(.json(["id"]), .created(body: #"{"id":1,"x":[0]}     "#), limits: limits)?.code == .missing)
    }

    @Test func keysInSentencesAreSafeAndShort() {
        let shown = "\(Token.ticket(id: one, .json(["a\nb", String(repeating: "k", count: 5000)])))"
        #expect(shown.utf8.count < 300)
        #expect(shown.hasPrefix("~ticket.\(one).json.a%0Ab.kk"))
    }

    @Test func aUUIDIsOfVersionFour() {
        var generator = SeededGenerator(seed: 1)
        var seen: Set<String> = []
        for _ in 0..<1000 {
            let text = RequestUUID.text(using: &generator)
            seen.insert(text)
            #expect(text.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil, "\(text)")
        }
        #expect(seen.count == 1000)
    }
}
