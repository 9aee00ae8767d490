import LayoverCore
import LayoverEngine

/// The rows of a store in memory, and the rules by which they change.
struct MemoryContent: Sendable {
    struct Row: Sendable {
        var record: TicketRecord
        var mark: IdempotencyMark?
        var request: StoredRequest?
        var answer: StoredResponse?
    }

    /// A body that was let go of, with its file if it has one.
    struct Released: Sendable {
        var name: String?
        var byteCount: Int

        init(_ body: StoredBody) {
            name = body.fileName
            byteCount = body.byteCount
        }
    }

    private(set) var tickets: [EntryID: Row] = [:]
    private(set) var lastSequence = 0
    var clock: (bootID: String, clock: TicketClock)?
    var seenAt: Timestamp?

    var fileNames: Set<String> {
        Set(tickets.values.flatMap { [$0.request?.body.fileName, $0.answer?.body.fileName].compactMap(\.self) })
    }

    /// All of a call or nothing of it.
    mutating func apply(
        call: [StoreChange], released: inout [Released]
    ) -> Result<[StoreResult], StoreFailure> {
        var draft = self
        var bodies: [Released] = []
        var results: [StoreResult] = []
        do {
            for change in call { results.append(try draft.apply(change, &bodies)) }
        } catch { return .failure(error) }
        self = draft
        released += bodies
        return .success(results)
    }

    private mutating func apply(
        _ change: StoreChange, _ released: inout [Released]
    ) throws(StoreFailure) -> StoreResult {
        switch change {
        case .insert(let record, let request, let mark):
            let result = try insert(record, request, mark)
            if result != .done, tickets[record.id] == nil || request.body.fileName != nil { release(request.body, &released) }
            return result
        case .update(let record):
            return try update(record, &released) ? .done : .stale
        case .started(let id, let revision, let counts):
            return start(id, revision, counts)
        case .lateEvidence(let record):
            return try addLateEvidence(record) ? .done : .stale
        case .delivered(let record, let response):
            guard record.state.isFinal, try update(record, &released) else {
                if tickets[record.id]?.answer == nil || response.body.fileName != nil { release(response.body, &released) }
                return .stale
            }
            tickets[record.id]?.answer = response
            return .done
        case .dropResponse(let id):
            guard let row = tickets[id], row.record.state.isFinal else { return .stale }
            tickets[id]?.answer = nil
            if let body = row.answer?.body { release(body, &released) }
            return .done
        case .forgetKey(let id):
            guard tickets[id] != nil else { return .stale }
            tickets[id]?.mark = nil
            return .done
        case .seen(let time):
            seenAt = time
            return .done
        }
    }

    private mutating func insert(
        _ record: TicketRecord, _ request: StoredRequest, _ mark: IdempotencyMark?
    ) throws(StoreFailure) -> StoreResult {
        if let mark, let other = tickets.values.first(where: { $0.mark?.key == mark.key }) {
            return .duplicate(of: other.record.id, samePayload: other.mark?.payload == mark.payload)
        }
        guard tickets[record.id] == nil else { return .stale }
        guard !tickets.values.contains(where: { $0.record.sequence == record.sequence }) else {
            throw StoreFailure(.other, "The sequence is taken.")
        }
        try check(record)
        tickets[record.id] = Row(record: record, mark: mark, request: request)
        lastSequence = max(lastSequence, record.sequence)
        return .done
    }

    private mutating func update(_ record: TicketRecord, _ released: inout [Released]) throws(StoreFailure) -> Bool {
        guard var row = tickets[record.id], !row.record.state.isFinal, row.record.revision < record.revision else {
            return false
        }
        var new = record
        if new.state == .attempting, row.record.state != .attempting { new.state = .waiting }
        new.request.url = row.record.url
        new.request.isURLInStore = false
        try check(new)
        row.record = new
        let body = row.request?.body
        if new.state.isFinal { row.request = nil }
        tickets[record.id] = row
        if new.state.isFinal, let body { release(body, &released) }
        return true
    }

    private mutating func addLateEvidence(_ record: TicketRecord) throws(StoreFailure) -> Bool {
        guard var row = tickets[record.id], row.record.state.isFinal, row.record.state == record.state,
            row.record.revision < record.revision
        else { return false }
        row.record.revision = record.revision
        row.record.counts = record.counts
        row.record.lastFailure = record.lastFailure
        row.record.lastFailureAt = record.lastFailureAt
        row.record.attempts = record.attempts
        try check(row.record)
        tickets[record.id] = row
        return true
    }

    private mutating func start(_ id: EntryID, _ revision: Int, _ counts: AttemptCounts) -> StoreResult {
        guard let record = tickets[id]?.record, record.state == .waiting || record.state == .attempting,
            record.revision <= revision
        else { return .stale }
        tickets[id]?.record.state = .attempting
        tickets[id]?.record.revision = revision
        tickets[id]?.record.counts = counts
        return .done
    }

    mutating func removeEnded(before time: Timestamp, limit: Int) -> (Int, [Released]) {
        let wanted = Set(tickets.values.filter { !$0.record.state.isFinal }.flatMap(\.record.parents))
        let ended = tickets.values.filter { !wanted.contains($0.record.id) }
            .filter { $0.record.endedMeasured.map { $0 < time } ?? false }
            .sorted {
                ($0.record.endedMeasured ?? time, $0.record.sequence) < ($1.record.endedMeasured ?? time, $1.record.sequence)
            }
            .prefix(max(0, limit))
        for row in ended { tickets[row.record.id] = nil }
        return (ended.count, ended.compactMap { $0.answer.map { Released($0.body) } })
    }

    /// Unless a row names it.
    private func release(_ body: StoredBody, _ released: inout [Released]) {
        if let name = body.fileName, fileNames.contains(name) { return }
        released.append(Released(body))
    }

    /// Total length of all bodies, in files and in rows.
    var bodyByteCount: Int {
        tickets.values.reduce(0) { $0 + ($1.request?.body.byteCount ?? 0) + ($1.answer?.body.byteCount ?? 0) }
    }

    /// The same conditions as the CHECKs of the database.
    private func check(_ record: TicketRecord) throws(StoreFailure) {
        let isSound =
            record.sequence > 0 && record.revision > 0 && (record.why != nil) == (record.state == .undecided)
            && (record.endedAt != nil) == record.state.isFinal && (record.status == nil || record.state == .delivered)
            && (0...7).contains(record.priority) && (0...max(0, record.counts.all)).contains(record.counts.automatic)
        if !isSound { throw StoreFailure(.other, "The record contradicts itself.") }
    }
}
