import LayoverCore

/// How the index of final tickets is read for one list: only the columns that the list looks at, as each costs time in each row.
struct EndedList {
    /// The columns that lists can ask for. The index has all of them, so no row of the table is read. `endedAt` is first, so that the
    /// index grows at its end.
    enum Column: Int, CaseIterable {
        case endedAt, state, id, method, scheme, host, port, url, route, policy, priority, lane, attemptCount, requestByteCount
        case createdAt, parkedAt, expiresAt, foldedText, sequence
    }

    /// The sequence is in every index.
    static let index =
        "CREATE INDEX endedList ON ticket (\(columns(Column.allCases.dropLast()))) WHERE endedAt IS NOT NULL"

    let statement: String
    /// Whether the rows come in the order of the list: then a page ends before the last row.
    let isInOrder: Bool
    /// Where each column is in the statement; 0, which is no value, for those that are not asked for.
    private let positions: [Int32]
    private let start: Int64

    init(_ query: PendingQuery) {
        let asked = Self.columns(of: query.filter).union(Self.columns(of: query.sort.field)).union([.id, .state, .sequence])
        var positions = Column.allCases.map { _ in Int32(0) }
        let selected = asked.sorted { $0.rawValue < $1.rawValue }
        for (index, column) in selected.enumerated() { positions[column.rawValue] = Int32(index) + 1 }
        self.positions = positions
        isInOrder = query.sort.field == .endedAt
        let isDescending = query.sort.isDescending
        start = if case .number(let start)? = query.cursor?.place.key { start } else { isDescending ? .max : .min }
        let order =
            !isInOrder ? "" : isDescending
            ? " AND endedAt <= ? ORDER BY endedAt DESC, sequence DESC" : " AND endedAt >= ? ORDER BY endedAt, sequence"
        statement = "SELECT NULL, \(Self.columns(selected)) FROM ticket INDEXED BY endedList WHERE endedAt IS NOT NULL" + order
    }

    func bind(to binder: inout StatementBinder) {
        if isInOrder { binder.bind(start) }
    }

    func position(of column: Column) -> Int32 { positions[column.rawValue] }

    private static func columns(_ columns: some Collection<Column>) -> String {
        columns.map { "\($0)" }.joined(separator: ", ")
    }

    private static func columns(of filter: EntryFilter) -> Set<Column> {
        var columns: Set<Column> = []
        if filter.parkedBefore != nil { columns.insert(.parkedAt) }
        if filter.method != nil { columns.insert(.method) }
        if filter.host != nil { columns.formUnion([.scheme, .host, .port]) }
        if filter.lane != nil { columns.insert(.lane) }
        if filter.text != nil { columns.insert(.foldedText) }
        return columns
    }

    private static func columns(of field: EntrySort.Field) -> Set<Column> {
        switch field {
        case .attempts: [.attemptCount]
        case .createdAt: [.createdAt]
        case .endedAt: [.endedAt]
        case .expiresAt: [.expiresAt]
        case .host: [.scheme, .host, .port]
        case .id, .parkedAt, .state, .nextAttemptAt: []
        case .lane: [.lane]
        case .method: [.method]
        case .policy: [.policy]
        case .priority: [.priority]
        case .requestBytes: [.requestByteCount]
        case .route: [.route]
        case .url: [.url]
        }
    }
}

/// A final ticket in the index of lists, read where it lies: most rows are passed over after one or two of their columns.
struct EndedRow: ListedEntry {
    private let row: RowReader
    private let list: EndedList

    init(_ row: RowReader, of list: EndedList) {
        self.row = row
        self.list = list
    }

    private func at(_ column: EndedList.Column) -> RowReader { row.at(list.position(of: column)) }

    private func text(_ column: EndedList.Column) -> String {
        var reader = at(column)
        return reader.text()
    }

    private func optionalText(_ column: EndedList.Column) -> String? {
        var reader = at(column)
        return reader.optionalText()
    }

    private func int(_ column: EndedList.Column) -> Int {
        var reader = at(column)
        return reader.int()
    }

    private func time(_ column: EndedList.Column) -> Timestamp {
        var reader = at(column)
        return reader.time()
    }

    // The table admits no other length and no other names.
    var id: EntryID {
        var reader = at(.id)
        return EntryID(bytes: reader.bytes()) ?? EntryID(high: 0, low: 0)
    }

    var state: EntryState { EntryState(rawValue: text(.state)) ?? .failed }
    var origin: Origin { Origin(scheme: Origin.Scheme(rawValue: text(.scheme)) ?? .http, host: text(.host), port: int(.port)) }
    var method: String { text(.method) }
    var url: String { text(.url) }
    var route: String? { optionalText(.route) }
    var policyName: String { text(.policy) }
    var priority: Int { int(.priority) }
    var lane: String? { optionalText(.lane) }
    var attemptCount: Int { int(.attemptCount) }
    var requestByteCount: Int { int(.requestByteCount) }
    var createdAt: Timestamp { time(.createdAt) }
    var parkedAt: Timestamp { time(.parkedAt) }
    var expiresAt: Timestamp { time(.expiresAt) }
    var endedAt: Timestamp? { time(.endedAt) }
    var sequence: Int { int(.sequence) }
    var nextAttemptAt: Timestamp? { nil }
    var openIncident: IncidentID? { nil }
    var isTicket: Bool { true }

    func isFound(by search: EntrySearch) -> Bool {
        var reader = at(.foldedText)
        return search.finds(id, foldedText: reader.bytes().assumingMemoryBound(to: UInt8.self))
    }
}
