import HTTPTypes
import Hummingbird
import HummingbirdCore
import LayoverCore
import LayoverEngine

/// Incidents: outages, and everything that waits in them.
extension AdminRoutes {
    func addIncidentRoutes(to router: Router<AdminContext>) {
        router.get("/v1/incidents") { request, _ in
            let mayCommand = view(for: request).mayCommand
            return try list(await engine.incidents().map { IncidentDocument($0, wall: wall, mayCommand: mayCommand) }, request)
        }
        router.get("/v1/incidents/{id}") { request, context in
            try refuseParameters(request)
            return try json(IncidentDocument(try await incident(context), wall: wall, mayCommand: view(for: request).mayCommand))
        }
        for command in [EntryCommand.retry, .cancel] {
            router.post("/v1/incidents/{id}/\(command.rawValue)") { request, context in
                try await performForIncident(command, request, context)
            }
        }
    }

    private func performForIncident(
        _ command: EntryCommand, _ request: Request, _ context: AdminContext
    ) async throws -> Response {
        try refuseParameters(request)
        let order = try await input.document(CommandRequest.self, of: request, context.audit) ?? CommandRequest()
        let before = try await incident(context)
        let (outcome, after) = await engine.command(
            command, incident: before.id, by: author(of: request, context), reason: order.reason)
        if case .unsaved(let failure) = outcome { throw AdminProblem.unsaved(failure) }
        if outcome == .conflict { throw AdminProblem.conflict(command, before) }
        guard outcome == .done else { throw AdminProblem.unknownIncident }
        guard let after else { return try json(IncidentDocument(before, wall: wall).closed) }
        return try json(IncidentDocument(after, wall: wall))
    }

    /// The open incident that the path names.
    private func incident(_ context: AdminContext) async throws -> Incident {
        guard let id = context.parameters.get("id").flatMap({ IncidentID($0) }),
            let incident = await engine.incidents().first(where: { $0.id == id })
        else { throw AdminProblem.unknownIncident }
        return incident
    }
}
