import Hummingbird
import HummingbirdCore
import LayoverCore
import LayoverEngine

/// Outages that are played.
extension AdminRoutes {
    func addRehearsalRoutes(to router: Router<AdminContext>) {
        router.get("/v1/rehearsals") { request, _ in
            let rehearsals = await engine.currentRehearsals()
            return try list(rehearsals.map { RehearsalDocument($0, wall: wall) }, request)
        }
        router.post("/v1/rehearsals") { request, context in try await beginRehearsal(request, context) }
        router.delete("/v1/rehearsals/{id}") { request, context in try await stopRehearsal(request, context) }
    }

    private func beginRehearsal(_ request: Request, _ context: AdminContext) async throws -> Response {
        try refuseParameters(request)
        guard let body = try await input.document(RehearsalRequest.self, of: request) else { throw RehearsalRequest.advice }
        let order = try body.order()
        context.audit.write { $0.detail = "\(order.fault.rawValue) \(order.host)" }
        let rehearsal: Rehearsal
        do throws(RehearsalRefusal) {
            rehearsal = try await engine.rehearse(order, by: author(of: request, context))
        } catch {
            throw Problem.rehearsal(error)
        }
        await engine.untilLoopsCaughtUp()
        return try json(RehearsalDocument(rehearsal, wall: wall))
    }

    private func stopRehearsal(_ request: Request, _ context: AdminContext) async throws -> Response {
        try refuseParameters(request)
        let text = context.parameters.get("id") ?? ""
        // No sign and no zeros in front: each has one name.
        guard let number = Int(text), String(number) == text,
            let rehearsal = await engine.stopRehearsal(number, by: author(of: request, context))
        else { throw Problem.unknownRehearsal }
        context.audit.write { $0.detail = "\(rehearsal.order.fault.rawValue) \(rehearsal.order.host)" }
        await engine.untilLoopsCaughtUp()
        return try json(RehearsalDocument(rehearsal, wall: wall))
    }
}
