import HTTPTypes
import Hummingbird
import HummingbirdCore
import LayoverCore
import LayoverEngine

/// The pending set.
extension AdminRoutes {
    func addPendingRoutes(to router: Router<AdminContext>) {
        router.get("/v1/pending") { request, _ in try await list(request) }
        router.get("/v1/pending/{id}") { request, context in try await show(request, context) }
        router.patch("/v1/pending/{id}") { request, context in try await change(request, context) }
        router.get("/v1/pending/{id}/explain") { request, context in try await explain(request, context) }
        router.get("/v1/pending/{id}/request") { request, context in try await requestHead(request, context) }
        router.get("/v1/pending/{id}/request-body") { request, context in
            try await requestBody(request, context)
        }
        router.get("/v1/pending/{id}/response") { request, context in try await storedTicketResponse(request, context) }
        for command in EntryCommand.allCases where command != .settle {
            router.post("/v1/pending/{id}/\(command.rawValue)") { request, context in
                try await perform(command, request, context)
            }
        }
        router.post("/v1/pending/{id}/settle") { request, context in try await settle(request, context) }
        for command in EntryCommand.ofMany {
            router.post("/v1/pending/\(command.rawValue)") { request, context in
                try await performForMany(command, request, context)
            }
        }
    }

    private func list(_ request: Request) async throws -> Response {
        let isStream = request.acceptsLines
        let parameters = try QueryParameters(request.uri.query, known: PendingQuery.parameterNames)
        let query = try PendingQuery(parameters, isStream: isStream)
        let view = view(for: request)
        let listing = try await engine.list(query)
        guard !isStream else { return stream(listing.items, view) }
        let entries = try await engine.entries(of: listing.items)
        return try json(
            PendingDocument(
                data: entries.map { EntryDocument($0, view) }, counts: StateCounts.document(await engine.counts()),
                nextCursor: listing.nextCursor?.description))
    }

    /// One entry a line, written as the reader takes them: what only the store has is read in portions.
    private func stream(_ items: [EntryListing.Item], _ view: EntryView) -> Response {
        let body = ResponseBody { writer in
            var rest = items[...]
            while !rest.isEmpty {
                let entries = try await engine.entries(of: rest.prefix(ListText.portionCount))
                rest = rest.dropFirst(ListText.portionCount)
                try await ListText(separator: "\n", terminator: "\n").write(entries, to: &writer) { EntryDocument($0, view) }
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: [.contentType: "application/jsonl"], body: body)
    }

    private func show(_ request: Request, _ context: AdminContext) async throws -> Response {
        try refuseParameters(request)
        return try answer(try await entryByPrefix(context), request)
    }

    private func explain(_ request: Request, _ context: AdminContext) async throws -> Response {
        try refuseParameters(request)
        let entry = try await entry(context)
        return try json(
            ExplainDocument(entry, reachability: await engine.reachabilityView(), view(for: request)))
    }

    /// The entry in the path: live, remembered, or a ticket that is still in the store.
    func entry(_ context: AdminContext) async throws -> Entry {
        guard let entry = try await engine.knownEntry(try await entryID(context)) else { throw AdminProblem.unknownEntry }
        return entry
    }

    private func entryID(_ context: AdminContext) async throws -> EntryID {
        guard let text = context.parameters.get("id"),
            let id = try await entryID(text, where: { try await engine.knownEntry($0) != nil })
        else { throw AdminProblem.unknownEntry }
        context.audit.write { $0.entry = id }
        return id
    }

    // MARK: Commands

    private func perform(
        _ command: EntryCommand, _ request: Request, _ context: AdminContext
    ) async throws -> Response {
        try refuseParameters(request)
        let order = try await input.document(CommandRequest.self, of: request, context.audit) ?? CommandRequest()
        let id = try await entryID(context)
        let revision = try await revision(of: id, admittedBy: request)
        let (result, entry) = await engine.command(
            command, id, revision: revision, by: author(of: request, context), reason: order.reason,
            acknowledgement: order.acknowledgement)
        return try await answer(result, id, entry, request) { AdminProblem.conflict(command, $0) }
    }

    private func settle(_ request: Request, _ context: AdminContext) async throws -> Response {
        try refuseParameters(request)
        let order = try await input.document(SettleRequest.self, of: request, context.audit) ?? SettleRequest()
        let id = try await entryID(context)
        let revision = try await revision(of: id, admittedBy: request)
        let (result, entry) = await engine.command(
            .settle, id, revision: revision, by: author(of: request, context), reason: order.reason, settled: order.outcome)
        return try await answer(result, id, entry, request) { AdminProblem.conflict(.settle, $0) }
    }

    private func change(_ request: Request, _ context: AdminContext) async throws -> Response {
        try refuseParameters(request)
        guard let order = try await input.document(PatchRequest.self, of: request) else {
            throw AdminProblem.malformedBody("Send at least one of 'priority', 'expiresAt' and 'lane'.")
        }
        let patch = try order.patch(wall)
        context.audit.write { $0.detail = order.names }
        let id = try await entryID(context)
        let revision = try await revision(of: id, admittedBy: request)
        let (result, entry) = await engine.patch(id, patch, revision: revision)
        return try await answer(result, id, entry, request) { AdminProblem.unchangeable($0) }
    }

    /// The revision of the entry, if it is one of those in If-Match. It may change before a command arrives;
    /// then the engine refuses the command.
    private func revision(of id: EntryID, admittedBy request: Request) async throws -> Int? {
        guard let admitted = RequestInput.revisions(request) else { return nil }
        guard let entry = try await engine.knownEntry(id) else { throw AdminProblem.unknownEntry }
        guard admitted.contains(entry.revision) else { throw AdminProblem.stale }
        return entry.revision
    }

    private func answer(
        _ outcome: CommandOutcome, _ id: EntryID, _ entry: Entry?, _ request: Request, conflict: (Entry?) -> AdminProblem
    ) async throws -> Response {
        switch outcome {
        case .done: break
        case .unsaved(let failure): throw AdminProblem.unsaved(failure)
        case .stale: throw AdminProblem.stale
        case .unknown:
            // A ticket may have ended before all that is remembered.
            guard let ended = try await engine.knownEntry(id) else { throw AdminProblem.unknownEntry }
            throw conflict(ended)
        case .conflict: throw conflict(entry)
        case .unacknowledged: throw AdminProblem.acknowledge
        }
        guard let entry else { throw AdminProblem.unknownEntry }
        return try answer(entry, request)
    }

    private func answer(_ entry: Entry, _ request: Request) throws -> Response {
        try json(EntryDocument(entry, view(for: request)), fields: [.eTag: "\"\(entry.revision)\""])
    }
}

/// Entries by the beginning of their ids. Only for reading: a command must name its entry in full.
extension AdminRoutes {
    /// The entry whose id is in the path, or the only one whose shown id begins so.
    func entryByPrefix(_ context: AdminContext) async throws -> Entry {
        guard let text = context.parameters.get("id"), let prefix = EntryIDPrefix(text) else {
            return try await entry(context)
        }
        let ids = try await engine.entryIDs(shownWith: prefix)
        if ids.count > AdminProblem.namedIDCountMax { throw AdminProblem.ambiguousID(prefix, ids.count, []) }
        var found: [Entry] = []
        // An entry that was removed in between is no match.
        for id in ids { if let entry = try await engine.knownEntry(id) { found.append(entry) } }
        guard let entry = found.first else { throw AdminProblem.unknownPrefix(prefix) }
        guard found.count == 1 else {
            throw AdminProblem.ambiguousID(prefix, found.count, found.map { engine.naming.shown($0.id).description })
        }
        return entry
    }
}
