import Testing

@testable import LayoverCore

/// Pages in the order of arrival, which the set finds without looking at all entries.
struct PageTests {
    @Test(arguments: ["parkedAt", "-parkedAt"])
    func cursorsAtTheEdgesOfIntGiveEverythingOrNothing(sort: String) throws {
        var set = PendingFixture.set(Array(repeating: .init(), count: 3))
        let sequences = set.liveEntries.map(\.sequence).sorted()
        for number in [Int.min, .min + 1, -1, 0, 1, 2, 3, 4, .max - 1, .max] {
            var query = PendingQuery()
            query.sort = try #require(EntrySort(sort))
            query.cursor = EntryCursor("\(sort).n0.\(number)")
            let page = set.page(of: query, now: Timestamp(nanoseconds: 0))
            let behind = query.sort.isDescending ? sequences.reversed().filter { $0 < number } : sequences.filter { $0 > number }
            #expect(page.entries.map(\.sequence) == behind, "\(number)")
        }
    }
}
