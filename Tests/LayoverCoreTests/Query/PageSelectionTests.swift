import LayoverTestSupport
import Testing

@testable import LayoverCore

/// A page holds the first entries of all, though not all are sorted.
struct PageSelectionTests {
    private static let set: PendingSet = {
        var generator = SeededGenerator(seed: 3)
        let hosts = ["a.example", "B.example", "xn--mnchen-3ya.example", "z.example"]
        let requests = (0..<700).map { number in
            let path = ["", "/Cart", "/cart", "/caf%C3%A9", "/\(Int.random(in: 0..<40, using: &generator))"].randomElement(using: &generator)!
            let query = ["", "?page=\(number % 7)", "?token=\(number)", "?Token=\(number)&a=\(number % 3)"].randomElement(using: &generator)!
            let host = hosts.randomElement(using: &generator)!
            return PendingFixture.Request(
                url: "http://\(host)\(path)\(query)", host: host, method: ["GET", "POST"].randomElement(using: &generator)!,
                byteCount: Int.random(in: 0..<5, using: &generator))
        }
        return PendingFixture.set(requests)
    }()

    @Test(arguments: EntrySort.Field.allCases, [false, true])
    func pagesAreTheWholeListInPieces(field: EntrySort.Field, isDescending: Bool) {
        var set = Self.set
        let now = Timestamp(nanoseconds: 0)
        var query = PendingQuery()
        query.sort = EntrySort(by: field, isDescending: isDescending)
        query.limit = nil
        let all = set.page(of: query, now: now).entries.map(\.sequence)
        #expect(all.count == 700)
        query.limit = 13
        var pieces: [Int] = []
        while true {
            let page = set.page(of: query, now: now)
            pieces += page.entries.map(\.sequence)
            // As it comes back from a client.
            guard let cursor = page.nextCursor.flatMap({ EntryCursor($0.description) }), pieces.count <= 700 else { break }
            query.cursor = cursor
        }
        #expect(pieces == all)
    }

    @Test func sortedListsAreInTheOrderOfWhatTheyShow() {
        var set = Self.set
        var query = PendingQuery()
        query.limit = 100
        query.sort = EntrySort(by: .host)
        #expect(Set(set.page(of: query, now: Timestamp(nanoseconds: 0)).entries.map(\.origin.host)) == ["a.example"])
        query.sort = EntrySort(by: .url)
        let urls = set.page(of: query, now: Timestamp(nanoseconds: 0)).entries.map { MaskedURL.text($0.url) }
        #expect(urls == urls.sorted { URLOrder.compare($0, $1) < 0 })
        // Between `a` and `z`, where people look for it.
        query.sort = EntrySort(by: .host, isDescending: true)
        query.limit = nil
        var hosts = set.page(of: query, now: Timestamp(nanoseconds: 0)).entries.map(\.origin.host)
        hosts = hosts.reduce(into: []) { if $0.last != $1 { $0.append($1) } }
        #expect(hosts == ["z.example", "xn--mnchen-3ya.example", "B.example", "a.example"])
    }
}
