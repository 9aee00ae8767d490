import HTTPTypes
import Hummingbird
import HummingbirdCore
import LayoverText
import Logging
import NIOHTTP1

/// Answers every request on the admin port: checks it, routes it, and turns errors into problems.
struct AdminResponder: HTTPResponder {
    typealias Context = AdminContext

    private let requestGuard: RequestGuard
    private let routes: RouteIndex
    private let router: RouterResponder<AdminContext>
    private let admin: AdminRoutes

    init(options: AdminOptions, sources: AdminSources) {
        admin = AdminRoutes(options: options, sources: sources)
        requestGuard = RequestGuard(options: options, access: admin.access)
        let router = admin.router()
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
        } catch {
            if error.status == 401, let login = Self.login(request) { return login }
            return error.response(path: request.uri.path)
        }
        do {
            let response = try await router.respond(to: request, context: context)
            admin.recordCommand(request, context, status: response.status.code, problem: nil)
            return response
        } catch {
            let problem = problem(error, context)
            admin.recordCommand(request, context, status: problem.status, problem: problem)
            return problem.response(path: request.uri.path)
        }
    }

    private func problem(_ error: any Error, _ context: Context) -> Problem {
        switch error {
        case let problem as Problem: return problem
        case is HTTPParserError: return .unreadable
        default:
            context.logger.error("admin request failed", metadata: ["error": "\(error)"])
            return .internalError
        }
    }

    /// A person is led to the login page instead of an error; nil for programs.
    private static func login(_ request: Request) -> Response? {
        guard request.method == .get, request.uri.path == "/", request.wantsPage else { return nil }
        let query = request.uri.query.map { "/?" + $0 } ?? "/"
        let place = PercentCoding.encode(query.utf8, isPlain: PercentCoding.isUnreserved)
        return Response(status: .seeOther, headers: [.location: "/login?to=" + String(decoding: place, as: UTF8.self)])
    }

    /// No page may frame, sniff, keep or script the responses; and there are no CORS
    /// fields, so none may read it.
    static func addSafetyFields(to fields: inout HTTPFields) {
        fields[.xContentTypeOptions] = "nosniff"
        // Not `no-referrer`: a form of the page would then be sent with `Origin: null`.
        fields[.referrerPolicy] = "same-origin"
        // The page and its files have their own.
        if fields[.cacheControl] == nil { fields[.cacheControl] = "no-store" }
        if fields[.contentSecurityPolicy] == nil { fields[.contentSecurityPolicy] = "default-src 'none'; frame-ancestors 'none'" }
    }
}
