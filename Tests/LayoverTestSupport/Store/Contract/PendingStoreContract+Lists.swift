import LayoverCore
import LayoverEngine

extension PendingStoreContract {
    /// Final tickets of many kinds, and some that are live.
    private static let records: [TicketRecord] = {
        let targets = ["/Cart", "/caf%C3%A9", "/Stra%C3%9Fe", "/~ticket.\(EntryID.fixture(77)).id~", "/x?token=secret", ""]
        let hosts = ["a.example", "xn--mnchen-3ya.example", "b.example", "z.example"]
        let states: [EntryState] = [.delivered, .cancelled, .failed, .expired, .waiting]
        return (1...120).map { number in
            let host = hosts[number % 4]
            let origin = Origin(scheme: number.isMultiple(of: 3) ? .https : .http, host: host, port: number.isMultiple(of: 7) ? 8080 : nil)
            var record = TicketRecord.fixture(number, state: states[number % 5])
            record.request = RequestDescription(
                id: .fixture(number), method: number.isMultiple(of: 2) ? "POST" : "PUT", url: "\(origin)\(targets[number % 6])",
                origin: origin, createdAt: Timestamp(nanoseconds: Int64(number * 37 % 50)))
            record.route = number.isMultiple(of: 5) ? nil : "route \(number % 3)"
            record.policy = number.isMultiple(of: 4) ? "outbox" : "Outbox 2"
            record.lane = number.isMultiple(of: 6) ? "/~ticket.\(EntryID.fixture(number)).id~" : nil
            record.priority = number % 8
            record.counts = AttemptCounts(all: number % 9, automatic: 0, mayHaveBeenApplied: false)
            record.requestByteCount = number * 31 % 17
            record.expiresAt = Timestamp(nanoseconds: Int64(number * 13 % 40))
            record.endedAt = record.state.isFinal ? Timestamp(nanoseconds: Int64(number * 7 % 60)) : nil
            if number.isMultiple(of: 4) { record.lastFailure = .fixture }
            return record
        }
    }()

    private static let filters: [@Sendable (inout EntryFilter) -> Void] = [
        { _ in }, { $0.states = [.delivered] }, { $0.states = [.failed, .waiting] }, { $0.states = [] }, { $0.host = "A.example" },
        { $0.host = "b.example:8080" }, { $0.method = "put" }, { $0.lane = "/~ticket.***.id~" },
        { $0.text = "CAFÉ" }, { $0.text = "strasse" },
        { $0.text = "MÜNCHEN" }, { $0.text = "secret" }, { $0.text = "früh" }, { $0.text = "ticket." }, { $0.text = "cart" },
        { $0.text = String(EntryID.fixture(8).description.suffix(5)) }, { $0.text = "connection_" }, { $0.text = "" },
        { $0.parkedBefore = records[60].parkedAt },
    ]

    static let lists: [Check] = [
        .inOneStore("final tickets are found by every filter, in every order, page by page") { store in
            _ = try await store.commit(records.map { .insert($0, .fixture(), nil) })
            for (index, change) in filters.enumerated() {
                var query = PendingQuery()
                query.filter.states = Set(EntryState.allCases)
                change(&query.filter)
                // All orders for the first filter, two for each of the others.
                let fields = index == 0 ? EntrySort.Field.allCases : [.parkedAt, .url]
                for field in fields {
                    query.sort = EntrySort(by: field, isDescending: (index + field.rawValue.count).isMultiple(of: 2))
                    try await requirePages(of: query, in: store)
                }
            }
        },
        .inOneStore("what a ticket ends with and what is learned after its end can be searched") { store in
            var query = PendingQuery()
            query.filter.states = [.failed]
            query.filter.text = "FRÜH"
            var record = TicketRecord.fixture(1)
            _ = try await store.apply(.insert(record, .fixture(), nil))
            try require(try await store.ended(query, naming: .plain).count, is: 0)
            record.revision = 2
            record.state = .failed
            record.endedAt = record.createdAt
            _ = try await store.apply(.update(record))
            try require(try await store.ended(query, naming: .plain).count, is: 0)
            record.revision = 3
            record.lastFailure = .fixture
            record.lastFailureAt = record.createdAt
            _ = try await store.apply(.lateEvidence(record))
            try require(try await store.ended(query, naming: .plain).map(\.id), is: [record.id])
            _ = try await store.removeEnded(before: .distantFuture, limit: 9)
            try require(try await store.ended(query, naming: .plain).count, is: 0)
        },
        .inOneStore("records come in the order in which they are asked for, without those that are not there") { store in
            _ = try await store.commit((1...3).map { .insert(.fixture($0), .fixture(), nil) })
            let ids = [3, 9, 1].map { EntryID.fixture($0) }
            try require(try await store.records(of: ids), is: [.fixture(3), .fixture(1)])
            try require(try await store.records(of: []), is: [])
        },
    ]

    /// Pages of seven hold what the rules of the core say, which are asked of each record.
    private static func requirePages(of query: PendingQuery, in store: any PendingStore) async throws {
        let matcher = EntryMatcher(query.filter, .plain)
        let expected = records.filter { $0.state.isFinal && matcher.matches($0) }
            .map { ListedPlace(id: $0.id, place: query.sort.place(of: $0, .plain)) }
            .sorted { query.sort.isBefore($0.place, $1.place) }.map(\.id)
        var query = query
        query.limit = nil
        try require(try await store.ended(query, naming: .plain).map(\.id), is: expected)
        query.limit = 7
        var pages: [EntryID] = []
        while true {
            let (places, next) = query.cut(try await store.ended(query, naming: .plain))
            pages += places.map(\.id)
            guard let next, pages.count <= expected.count else { break }
            query.cursor = next
        }
        try require(pages, is: expected)
    }
}
