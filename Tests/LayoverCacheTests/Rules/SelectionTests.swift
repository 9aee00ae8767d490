import LayoverEngine
import LayoverHTTP
import NIOCore
import Testing

@testable import LayoverCache

/// Credentials and `Vary` (RFC 9111 section 4.1, decision 0016).
struct SelectionTests {
    private func vary(_ values: String...) -> VarySelection? {
        VarySelection(.made(200, values.map { "Vary: \($0)" }))
    }

    @Test func namesAreASet() {
        #expect(vary("Accept, accept-LANGUAGE", "Accept")?.names == ["accept", "accept-language"])
        #expect(vary()?.names == [])
        #expect(vary("Accept", "*") == nil)
    }

    @Test(arguments: [
        (["Accept: a"], ["accept: a"], true), (["Accept: a, b"], ["Accept: a", "Accept: b"], true),
        (["Accept: a ,b"], ["Accept: a,b"], true), (["Accept: a"], ["Accept: A"], false),
        (["Accept: a, b"], ["Accept: b, a"], false), (["Accept:"], [], false), ([], ["X: y"], true),
        (["Accept: a"], [], false), (["Accept: a", "X: 1"], ["Accept: a", "X: 2"], true),
        // The value of one field must not count as the value of another.
        (["Accept: a", "Accept-Language:"], ["Accept:", "Accept-Language: a"], false),
    ])
    func requestsMatchByTheFieldsInVary(one: [String], other: [String], isEqual: Bool) {
        let selection = VarySelection(names: ["accept", "accept-language"])
        #expect((selection.canonical(of: .made(one)) == selection.canonical(of: .made(other))) == isEqual)
    }

    @Test func valuesThatAreNotUTF8Differ() {
        let selection = VarySelection(names: ["x"])
        func canonical(_ byte: UInt8) -> [UInt8] {
            var request = CacheRequest.to("/a")
            request.fields.append("X", ByteBuffer(bytes: [byte]))
            return selection.canonical(of: RequestFacts(request))
        }
        #expect(canonical(0xFE) != canonical(0xFF))
    }

    @Test(arguments: [
        "Authorization: Bearer a", "Cookie: a=b", "X-API-Key: k", "Api-Key: k", "X-Auth-Token: t", "X-Access-Token: t",
    ])
    func everyCredentialCounts(field: String) {
        let with = Credentials.canonical(of: .made([field]))
        #expect(with != nil)
        #expect(with != Credentials.canonical(of: .made([field + "x"])))
        #expect(with == Credentials.canonical(of: .made(["Accept: z", field])))
    }

    @Test func requestsWithoutCredentialsShareResponses() {
        #expect(Credentials.canonical(of: .made(["Accept: a"])) == nil)
    }

    @Test(arguments: [
        ("public", true), ("s-maxage=5", true), ("max-age=5", false), ("private", false), ("must-revalidate", false),
        ("public, private", false), ("s-maxage=5, private=\"X-A\"", false),
    ])
    func onlySharedResponsesAreForAllClients(value: String, expected: Bool) {
        #expect(ResponseFacts.made(200, ["Cache-Control: \(value)"]).isForEveryone == expected)
    }
}
