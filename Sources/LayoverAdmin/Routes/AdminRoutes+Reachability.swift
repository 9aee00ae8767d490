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
            throw Problem.malformedBody("Send one of 'mode' and 'hint'.")
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
