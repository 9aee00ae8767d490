import LayoverTestSupport
import Testing

@testable import LayoverCore

/// An entry in memory, its record and the text that a store keeps of it are searched alike.
struct EntrySearchTests {
    private static let id = "0123456789abcdef0123456789abcdef"

    @Test(arguments: [
        "http://a.example/Cart", "http://a.example/caf%C3%A9/Stra%C3%9Fe", "http://xn--mnchen-3ya.example:8080/%41?q=secret",
        "http://a.example/~ticket.\(id).location~/x", "http://[::1]:81/", "a.example:443", "http://a.example/Привет",
    ])
    func textsAreTheSameEverywhere(url: String) throws {
        let host = url.contains("xn--") ? "xn--mnchen-3ya.example" : url.contains("::1") ? "::1" : "a.example"
        var entry = try #require(PendingFixture.entries([.init(url: url, host: host)]).first)
        entry.failed(
            Failure(phase: .connecting, kind: .connectionRefused, evidence: .neverSent, message: "Früh \(Self.id) refused"),
            at: Timestamp(nanoseconds: 1))
        let record = TicketRecord(entry, TicketFacts())
        let folded = EntrySearch.foldedText(of: entry.origin, url: url, failure: entry.lastFailure)
        let parts = [
            "cart", "CAFÉ", "strasse", "MÜNCHEN", "xn--m", "a.EX", "::1", ":81", "%41", "a", "secret", "refused", "connection_refused",
            "FRÜH", "*", "ticket.", Self.id, String(Self.id.prefix(3)), String(entry.id.description.prefix(5)), "привет", "zz", "",
        ]
        for part in parts {
            let search = EntrySearch(SearchedPart(part), .plain)
            let isFound = entry.isFound(by: search)
            #expect(record.isFound(by: search) == isFound, "\(part)")
            var text = folded
            #expect(text.withUTF8 { search.finds(entry.id, foldedText: $0) } == isFound, "\(part)")
        }
        #expect(!entry.isFound(by: EntrySearch(SearchedPart(Self.id), .plain)))
    }

    @Test func urlThatTheHistoryCutsIsCutForSearchesToo() throws {
        let url = "http://a.example/%C3%A9" + String(repeating: "x", count: 4000) + "end"
        var entry = try #require(PendingFixture.entries([.init(url: url)]).first)
        let search = EntrySearch(SearchedPart("END"), .plain)
        #expect(entry.isFound(by: search))
        var history = EntryHistory(countMax: 1)
        history.remember(entry)
        entry = try #require(history[entry.id])
        #expect(!entry.isFound(by: search))
        #expect(entry.isFound(by: EntrySearch(SearchedPart("É"), .plain)))
    }
}

/// URLs that the quick check takes as plain are those that the full masking leaves unchanged.
struct PlainURLTests {
    @Test func everySecretNameHasAStem() {
        for name in [
            "auth", "Authorization", "bearer", "code", "credentials", "hmac", "jwt", "key", "passphrase", "passwd", "password", "pwd",
            "client_secret", "session", "sessionid", "sid", "sig", "X-Amz-Signature", "token", "apikey", "accessKey", "userPassword",
        ] {
            #expect(MaskedURL.isSecret(name))
            #expect(MaskedURL.text("http://a.example/?\(name)=hush") == "http://a.example/?\(name)=***")
        }
    }

    @Test(arguments: [
        "http://a.example/", "http://a.example/?page=3&keyword=x", "a.example:443", "http://a.example/at.html?x#y", "/path?a=b;c",
    ])
    func plainURLStays(url: String) { #expect(MaskedURL.text(url) == url) }
}
