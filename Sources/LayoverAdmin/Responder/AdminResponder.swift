import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOHTTP1

/// Answers every request on the admin port: checks it, routes it, and turns errors into problems.
struct AdminResponder: HTTPResponder {
    typealias Context = AdminContext

    private let requestGuard: RequestGuard
    private let routes: RouteIndex
    private let router: RouterResponder<AdminContext>

    init(options: AdminOptions, sources: AdminSources) {
        requestGuard = RequestGuard(options: options)
        let router = AdminRoutes(options: options, sources: sources).router()
        routes = RouteIndex(router.routes)
        self.router = router.buildResponder()
    }

    func respond(to request: Request, context: Context) async throws -> Response {
        var response = await answer(request, context: context)
        Self.addSafetyFields(to: &response.headers)
        return response
    }

    private func answer(_ request: Request, context: Context) async -> Response {
        do {
            try requestGuard.check(request)
            try routes.check(method: request.method, path: request.uri.path)
            return try await router.respond(to: request, context: context)
        } catch let problem as Problem {
            return problem.response(path: request.uri.path)
        } catch is HTTPParserError {
            return Problem.unreadable.response(path: request.uri.path)
        } catch {
            context.logger.error("admin request failed", metadata: ["error": "\(error)"])
            return Problem.internalError.response(path: request.uri.path)
        }
    }

    /// No page may frame, sniff, keep or script the responses; and there are no CORS
    /// fields, so none may read it.
    static func addSafetyFields(to fields: inout HTTPFields) {
        fields[.xContentTypeOptions] = "nosniff"
        fields[.referrerPolicy] = "no-referrer"
        // The page and its files have their own.
        if fields[.cacheControl] == nil { fields[.cacheControl] = "no-store" }
        if fields[.contentSecurityPolicy] == nil { fields[.contentSecurityPolicy] = "default-src 'none'; frame-ancestors 'none'" }
    }
}
