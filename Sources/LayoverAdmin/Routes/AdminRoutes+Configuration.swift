import Hummingbird
import HummingbirdCore
import LayoverEngine

/// The configuration: the values in force, and the reload.
extension AdminRoutes {
    func addConfigurationRoutes(to router: Router<AdminContext>) {
        if let configuration = sources.configuration {
            router.get("/v1/config") { request, _ in
                try refuseParameters(request)
                let document = ConfigurationDocument(configuration())
                return request.acceptsLines ? lines(document.data) : try json(document)
            }
        }
        guard let reload = sources.reload else { return }
        router.post("/v1/reload") { request, context in
            try refuseParameters(request)
            _ = try await input.document(CommandRequest.self, of: request, context.audit)
            let report = await reload()
            guard report.errors.isEmpty else { throw Problem.configuration(report.errors) }
            return try json(ReloadDocument(report, wall: wall))
        }
    }
}
