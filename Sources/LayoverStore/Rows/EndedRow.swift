import LayoverCore

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
