import HTTPTypes
import Hummingbird
import HummingbirdCore
import LayoverCore
import LayoverEngine

/// The pending set.
extension AdminRoutes {
    func addPendingRoutes(to router: Router<BasicRequestContext>) {
        router.get("/v1/pending") { request, _ in try await list(request) }
        router.get("/v1/pending/{id}") { request, context in try await show(request, context) }
        router.get("/v1/pending/{id}/explain") { request, context in try await explain(request, context) }
        for command in EntryCommand.allCases {
            router.post("/v1/pending/{id}/\(command.rawValue)") { request, context in
                try await perform(command, request, context)
            }
        }
        // Nobody acknowledges the risk of many at once.
        for command in EntryCommand.allCases where command != .force {
            router.post("/v1/pending/\(command.rawValue)") { request, _ in
                try await performForMany(command, request)
            }
        }
    }

    private func list(_ request: Request) async throws -> Response {
        let isStream = (request.headers[.accept] ?? "").lowercased().contains("application/jsonl")
        let parameters = try QueryParameters(request.uri.query, known: PendingQuery.parameterNames)
        let query = try PendingQuery(parameters, isStream: isStream)
        let page = query.page(of: await entries(in: query.filter.states))
        guard !isStream else { return stream(page.entries) }
        return try json(
            PendingDocument(
                data: page.entries.map { EntryDocument($0, wall: wall) },
                counts: StateCounts.document(await engine.counts()),
                nextCursor: page.nextCursor?.description))
    }

    private func entries(in states: Set<EntryState>) async -> [Entry] {
        let live = states.allSatisfy(\.isFinal) ? [] : await engine.liveEntries()
        return states.contains(where: \.isFinal) ? await live + engine.rememberedEntries() : live
    }

    /// One entry a line, written as the reader takes them.
    private func stream(_ entries: [Entry]) -> Response {
        let body = ResponseBody { writer in
            try await ListText(separator: "\n", terminator: "\n").write(entries, to: &writer) {
                EntryDocument($0, wall: wall)
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: [.contentType: "application/jsonl"], body: body)
    }

    private func show(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
        try refuseParameters(request)
        return try answer(try await entry(context))
    }

    private func explain(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
        try refuseParameters(request)
        let entry = try await entry(context)
        return try json(
            ExplainDocument(entry, reachability: await engine.reachabilityView(), wall: wall))
    }

    /// The entry that the path names, live or remembered.
    private func entry(_ context: BasicRequestContext) async throws -> Entry {
        guard let entry = await engine.entry(try RequestInput.entryID(context)) else {
            throw Problem.unknownEntry
        }
        return entry
    }

    private func perform(
        _ command: EntryCommand, _ request: Request, _ context: BasicRequestContext
    ) async throws -> Response {
        try refuseParameters(request)
        let order = try await input.document(CommandRequest.self, of: request) ?? CommandRequest()
        let id = try RequestInput.entryID(context)
        var revision: Int?
        if let admitted = RequestInput.revisions(request) {
            guard let entry = await engine.entry(id) else { throw Problem.unknownEntry }
            guard admitted.contains(entry.revision) else { throw Problem.stale }
            // It may change before the command arrives; then the engine says so.
            revision = entry.revision
        }
        let (result, entry) = await engine.command(
            command, id, revision: revision, reason: order.reason, acknowledgement: order.acknowledgement)
        switch result {
        case .done: break
        case .stale: throw Problem.stale
        case .unknown: throw Problem.unknownEntry
        case .conflict: throw Problem.conflict(command, entry)
        case .unacknowledged: throw Problem.acknowledge
        }
        guard let entry else { throw Problem.unknownEntry }
        return try answer(entry)
    }

    private func answer(_ entry: Entry) throws -> Response {
        try json(EntryDocument(entry, wall: wall), fields: [.eTag: "\"\(entry.revision)\""])
    }
}
