import Hummingbird
import HummingbirdCore
import LayoverCore
import LayoverEngine

/// Commands for many entries.
extension AdminRoutes {
    /// Entries commanded in one go; the engine does other things in between. A portion takes well under a
    /// millisecond.
    private static let portionCount = 256

    func performForMany(_ command: EntryCommand, _ request: Request, _ context: AdminContext) async throws -> Response {
        try refuseParameters(request)
        guard let order = try await input.document(BulkRequest.self, of: request, context.audit) else {
            throw AdminProblem.malformedBody("Send one of 'ids', 'filter' and \"all\": true.")
        }
        context.audit.write { $0.detail = order.names }
        if let names = try order.namedIDs() {
            let result = await perform(command, named: names, order, by: author(of: request, context))
            context.audit.write { ($0.matched, $0.done) = (result.matched, result.done) }
            return try json(result)
        }
        let selection = try order.selection(wall)
        let entries = await engine.liveEntries()
        let ids = selection.matched(in: entries, naming: engine.naming)
        let later = selection.laterCount(in: entries, naming: engine.naming)
        context.audit.write { ($0.matched, $0.done) = (ids.count, 0) }
        guard !order.isDryRun else { return try json(BulkDocument(matched: ids.count, done: 0, results: [], later: later)) }
        let outcomes = await perform(command, ids, by: author(of: request, context), reason: order.reason)
        context.audit.write { ($0.matched, $0.done) = (ids.count, outcomes.count { $0 == .done }) }
        if let failure = outcomes.lazy.compactMap(\.failure).first {
            throw AdminProblem.unsaved(failure, count: outcomes.count { $0.failure != nil }, of: ids.count)
        }
        return try json(
            BulkDocument(
                matched: ids.count, done: outcomes.count { $0 == .done }, results: [],
                willGo: await willGo(zip(ids, outcomes), after: command), later: later))
    }

    /// How many of the entries whose retry was carried out go when.
    private func willGo(
        _ outcomes: some Sequence<(EntryID, CommandOutcome)>, after command: EntryCommand
    ) async -> [String: Int]? {
        guard command == .retry else { return nil }
        var counts: [String: Int] = [:]
        for (id, outcome) in outcomes where outcome == .done {
            guard let entry = await engine.entry(id), entry.waitingFor != .parent || entry.willGo != nil else { continue }
            // An attempt that is over already was made at once.
            counts[(entry.willGo ?? .now).rawValue, default: 0] += 1
        }
        return counts
    }

    private func perform(
        _ command: EntryCommand, named names: [String], _ order: BulkRequest, by author: CommandAuthor
    ) async -> BulkDocument {
        var meant: [String: EntryID] = [:]
        for name in names where meant[name] == nil {
            meant[name] = await entryID(name) { await engine.entry($0) != nil }
        }
        let ids = names.compactMap { meant[$0] }
        let matched = await engine.liveCount(of: Set(ids))
        guard !order.isDryRun else { return BulkDocument(matched: matched, done: 0, results: []) }
        let results = await perform(command, ids, by: author, reason: order.reason)
        var outcomes = Dictionary(zip(ids, results)) { first, _ in first }
        // Tickets may have ended before all that is remembered.
        for (id, outcome) in outcomes where outcome == .unknown {
            if await isKnown(id) { outcomes[id] = .conflict }
        }
        return BulkDocument(
            matched: matched, done: results.count { $0 == .done },
            results: names.map { name in
                .init(id: name, status: meant[name].flatMap { outcomes[$0] }?.status ?? 404)
            }, willGo: await willGo(zip(ids, results), after: command))
    }

    private func isKnown(_ id: EntryID) async -> Bool { (try? await engine.knownEntry(id)) != nil }

    private func perform(
        _ command: EntryCommand, _ ids: [EntryID], by author: CommandAuthor, reason: String?
    ) async -> [CommandOutcome] {
        var results: [CommandOutcome] = []
        var rest = ids[...]
        while !rest.isEmpty {
            results += await engine.command(command, each: rest.prefix(Self.portionCount), by: author, reason: reason)
            rest = rest.dropFirst(Self.portionCount)
        }
        return results
    }
}

extension CommandOutcome {
    /// Why the change is not on disk; nil for every other outcome.
    fileprivate var failure: StoreFailure? {
        if case .unsaved(let failure) = self { failure } else { nil }
    }

    /// The result of the command for one entry.
    fileprivate var status: Int {
        switch self {
        case .done: 200
        case .unknown: 404
        case .conflict: 409
        case .stale: 412
        case .unacknowledged: 422
        case .unsaved: 507
        }
    }
}
