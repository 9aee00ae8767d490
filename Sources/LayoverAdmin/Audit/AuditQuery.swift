import LayoverCore

/// Which commands a list of the audit log shows.
struct AuditQuery: Sendable {
    static let parameterNames: Set<String> = ["command", "who", "entry", "limit", "cursor"]

    private let command: String?
    private let who: String?
    private let entry: String?
    /// Most records in the response. Nil: all records.
    private let limit: Int?
    /// The number of the last record of the page before.
    private let before: Int?

    /// - Parameter isStream: Whether the response is streamed; then there is no limit unless one is given.
    init(_ parameters: QueryParameters, isStream: Bool) throws(AdminProblem) {
        command = parameters["command"]
        who = parameters["who"]
        entry = parameters["entry"]
        limit = try parameters.limit() ?? (isStream ? nil : 100)
        before = try parameters["cursor"].map { text throws(AdminProblem) in
            guard let number = Int(text) else { throw .badParameter("'cursor' must be a nextCursor of this list.") }
            return number
        }
    }

    /// - Parameter records: Newest first.
    func page(of records: [AuditRecord], _ view: EntryView) -> ListDocument<AuditDocument> {
        let found = records.lazy.filter { record in
            (before.map { record.number < $0 } ?? true) && (command.map { record.command == $0 } ?? true)
                && (who.map { record.author.who == $0 } ?? true)
        }
        .map { AuditDocument($0, view) }
        .filter { document in entry.map { document.entry == $0 } ?? true }
        guard let limit else { return ListDocument(data: Array(found), nextCursor: nil) }
        // One more than is shown, to know whether there is another page.
        let page = Array(found.prefix(limit + 1))
        let shown = Array(page.prefix(limit))
        return ListDocument(data: shown, nextCursor: page.count > limit ? shown.last.map { String($0.number) } : nil)
    }
}

/// A command as programs see it.
struct AuditDocument: Codable, Sendable {
    var number: Int
    var at: String
    var command: String
    @OrNull var entry: String?
    @OrNull var incident: String?
    @OrNull var detail: String?
    @OrNull var matched: Int?
    @OrNull var done: Int?
    var who: String
    @OrNull var from: String?
    @OrNull var reason: String?
    var status: Int
    var outcome: String
}

extension AuditDocument {
    init(_ record: AuditRecord, _ view: EntryView) {
        let note = record.note
        self.init(
            number: record.number, at: view.wall.text(of: record.at), command: record.command,
            entry: note.entry.map(view.shown), incident: record.incident, detail: note.detail, matched: note.matched,
            done: note.done, who: record.author.who, from: record.author.from, reason: note.reason, status: record.status,
            outcome: record.outcome)
    }
}
