import Hummingbird
import HummingbirdCore
import LayoverCore
import LayoverEngine

/// The state of the network, and the mode that a person sets.
extension AdminRoutes {
    func addReachabilityRoutes(to router: Router<AdminContext>) {
        router.get("/v1/reachability") { request, _ in
            try refuseParameters(request)
            return try answer(await engine.reachabilityView())
        }
        router.put("/v1/reachability") { request, context in try await changeReachability(request, context) }
    }

    private func changeReachability(_ request: Request, _ context: AdminContext) async throws -> Response {
        try refuseParameters(request)
        guard let order = try await input.document(ReachabilityRequest.self, of: request, context.audit) else {
            throw AdminProblem.malformedBody("Send one of 'mode' and 'hint'.")
        }
        switch try order.change() {
        case .mode(let mode, let reason, let tunnels):
            context.audit.write { $0.detail = mode == .offline ? "mode offline, tunnels \(tunnels.rawValue)" : "mode \(mode.rawValue)" }
            let view = await engine.setMode(mode, reason: reason, tunnels: tunnels)
            await engine.untilLoopsCaughtUp()
            return try answer(view)
        case .hint:
            context.audit.write { $0.detail = "hint" }
            return try answer(await engine.hintChanged())
        }
    }

    private func answer(_ view: ReachabilityView) throws -> Response {
        try json(ReachabilityDocument(view, wall: wall))
    }
}

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
            throw AdminProblem.rehearsal(error)
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
        else { throw AdminProblem.unknownRehearsal }
        context.audit.write { $0.detail = "\(rehearsal.order.fault.rawValue) \(rehearsal.order.host)" }
        await engine.untilLoopsCaughtUp()
        return try json(RehearsalDocument(rehearsal, wall: wall))
    }
}
