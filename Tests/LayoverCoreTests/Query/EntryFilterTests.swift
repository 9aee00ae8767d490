import Retry
import Testing

@testable import LayoverCore

struct EntryFilterTests {
    private var filter = EntryFilter()

    @Test(arguments: [
        ("http://a.example/", "A.EXAMPLE", true), ("http://a.example/Straße", "STRASSE", true),
        ("http://a.example/stra%C3%9Fe", "STRASSE", true),
        ("http://a.example/%CE%A3%CE%91%CE%A3", "σας", true),
        ("http://a.example/Привет", "ПРИВЕТ", true), ("http://a.example/caf\u{E9}", "CAFE\u{301}", true),
        ("http://a.example/cart", "carts", false), ("http://a.example/?key=secret", "secret", false),
        ("http://a.example/", "REFUSED", true), ("http://a.example/", "connection_refused", true),
        ("a.example:443", "a.example", true), ("http://a.example/", "", true),
        ("http://a.example/%zz", "%ZZ", true),
    ])
    mutating func textIsFoundInHostPathAndError(url: String, text: String, matches: Bool) {
        filter.text = text
        #expect(filter.matching(PendingFixture.entries([.init(url: url)])).isEmpty == !matches)
    }

    @Test(arguments: [("MÜNCH", true), ("xn--m", true), ("MUNCH", false)])
    mutating func hostInAnotherAlphabetIsFoundAsPeopleWriteIt(text: String, matches: Bool) {
        filter.text = text
        let entries = PendingFixture.entries([.init(url: "http://xn--mnchen-3ya.example/", host: "xn--mnchen-3ya.example")])
        #expect(filter.matching(entries).isEmpty == !matches)
    }

    @Test mutating func textIsFoundInTheID() throws {
        let entries = PendingFixture.entries([.init(), .init()])
        filter.text = try #require(entries.first).id.description.uppercased()
        #expect(filter.matching(entries).map(\.id) == [entries[0].id])
    }

    @Test mutating func laterEntriesAreExcludedByTheFilterAndCounted() {
        let entries = PendingFixture.entries([.init(), .init(), .init(host: "b.example"), .init()])
        #expect(EntrySelection.filter(filter).laterCount(in: entries) == nil)
        filter.host = "a.example"
        filter.parkedBefore = entries[1].parkedAt
        #expect(filter.matching(entries).map(\.id) == [entries[0].id])
        #expect(EntrySelection.filter(filter).laterCount(in: entries) == 2)
        #expect(EntrySelection.all.laterCount(in: entries) == nil)
    }

    @Test mutating func emptyStatesMatchNothing() {
        filter.states = []
        #expect(filter.matching(PendingFixture.entries([.init()])).isEmpty)
    }

    @Test(arguments: [("A.example", 1), ("a.example:80", 1), ("a.example:81", 0), ("example", 0)])
    mutating func hostIsComparedWhole(host: String, count: Int) {
        filter.host = host
        #expect(filter.matching(PendingFixture.entries([.init()])).count == count)
    }
}
