import Testing

@testable import LayoverCore

struct PendingQueryTests {
    private var query = PendingQuery()
    private let entries = PendingFixture.entries([
        .init(url: "http://b.example/1", host: "b.example", byteCount: 5),
        .init(url: "http://a.example/2", host: "a.example", byteCount: 5),
        .init(url: "http://c.example/3", host: "c.example", byteCount: 1),
        .init(url: "http://a.example/4", host: "a.example", byteCount: 9),
    ])

    private func order(_ query: PendingQuery) -> [Int] {
        query.page(of: entries.shuffled()).entries.map { entry in
            entries.firstIndex { $0.id == entry.id } ?? -1
        }
    }

    @Test(arguments: [
        ("parkedAt", [0, 1, 2, 3]), ("-parkedAt", [3, 2, 1, 0]), ("host", [1, 3, 0, 2]),
        ("-host", [2, 0, 3, 1]),
        ("requestBytes", [2, 0, 1, 3]), ("-requestBytes", [3, 1, 0, 2]), ("url", [1, 3, 0, 2]),
    ])
    mutating func orderIsByTheFieldAndThenByArrival(sort: String, expected: [Int]) throws {
        query.sort = try #require(EntrySort(sort))
        #expect(order(query) == expected)
    }

    @Test(arguments: EntrySort.Field.allCases, [false, true])
    func pagesTogetherAreTheWholeList(field: EntrySort.Field, isDescending: Bool) throws {
        for limit in 1...5 {
            var query = PendingQuery()
            query.sort = EntrySort(by: field, isDescending: isDescending)
            let whole = order(query)
            query.limit = limit
            var paged: [Int] = []
            while paged.count <= entries.count {
                paged += order(query)
                guard let cursor = query.page(of: entries).nextCursor else { break }
                // As a caller has it: as text.
                let read: EntryCursor = try #require(EntryCursor(cursor.description))
                #expect(read == cursor)
                query.cursor = read
            }
            #expect(paged == whole)
            #expect(Set(paged).count == entries.count)
        }
    }

    @Test mutating func entriesThatEndDoNotShiftThePages() throws {
        query.limit = 2
        let cursor: EntryCursor = try #require(query.page(of: entries).nextCursor)
        query.cursor = cursor
        let rest = query.page(of: entries.dropFirst(2))
        #expect(rest.entries.map(\.id) == entries[2...].map(\.id))
        #expect(rest.nextCursor == nil)
    }

    @Test(arguments: [
        "", ".", "..", "parkedAt.n1", "parkedAt.n1.x", "colour.n1.1", "parkedAt.x1.1", "host.t6.1",
        "host.tff.1",
        "parkedAt.n1.1.1", "parkedAt.n99999999999999999999.1",
    ])
    func otherTextsAreNoCursor(text: String) {
        #expect(EntryCursor(text) == nil)
    }

    @Test mutating func cursorNeedsNoEscapingAndShowsNoSecret() throws {
        query.sort = EntrySort(by: .url)
        query.limit = 1
        let secret = PendingFixture.entries([
            .init(url: "http://a.example/é?token=hunter2"), .init(url: "http://b.example/"),
        ])
        let text = try #require(query.page(of: secret).nextCursor).description
        #expect(
            text.utf8.allSatisfy {
                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.".utf8.contains($0)
            })
        let hexadecimal = "hunter2".utf8.map { String($0, radix: 16) }.joined()
        #expect(!text.contains(hexadecimal))
    }

    @Test func selectionListsEntriesInOrder() {
        let ids = entries.map(\.id)
        #expect(EntrySelection.all.matched(in: entries.shuffled()) == ids)
        var filter = EntryFilter()
        filter.host = "a.example"
        #expect(EntrySelection.filter(filter).matched(in: entries.shuffled()) == [ids[1], ids[3]])
    }
}
