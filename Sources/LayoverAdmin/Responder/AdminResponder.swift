import HTTPTypes
import Hummingbird
import HummingbirdCore
import LayoverEngine
import LayoverText
import Logging
import NIOCore
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

    private func problem(_ error: any Error, _ context: Context) -> AdminProblem {
        switch error {
        case let problem as AdminProblem: return problem
        case let failure as StoreFailure: return .store(failure)
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

/// The methods of each path, so that a wrong method is a 405 and a wrong path a 404.
struct RouteIndex: Sendable {
    /// Segments; nil matches any one.
    private struct Route: Sendable {
        var segments: [Substring?]
        var method: HTTPRequest.Method

        func matches(_ path: [Substring]) -> Bool {
            segments.count == path.count && zip(segments, path).allSatisfy { $0 == nil || $0 == $1 }
        }
    }

    private let routes: [Route]

    init(_ routes: [Router<AdminContext>.RouteDescription]) {
        self.routes = routes.map { route in
            let segments = route.path.description.split(separator: "/")
            let isFixed = { (segment: Substring) in !segment.hasPrefix(":") && !segment.hasPrefix("{") }
            return Route(segments: segments.map { isFixed($0) ? $0 : nil }, method: route.method)
        }
    }

    func check(method: HTTPRequest.Method, path: String) throws(AdminProblem) {
        let segments = path.split(separator: "/")
        let found = routes.filter { $0.matches(segments) }
        // A fixed path hides the one with a parameter in its place.
        let fewest = found.map { $0.segments.count { $0 == nil } }.min()
        let methods = found.filter { $0.segments.count { $0 == nil } == fewest }.map(\.method)
        guard !methods.isEmpty else { throw .notFound }
        // HEAD is served wherever GET is.
        guard !methods.contains(method), !(method == .head && methods.contains(.get)) else { return }
        var names = Set(methods.map(\.rawValue))
        if names.contains("GET") { names.insert("HEAD") }
        throw .methodNotAllowed(names.sorted())
    }
}

/// Facts about a request to the admin port that the request itself does not have.
struct AdminContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// Address and port of the sender; nil if they are not known.
    let peer: String?
    /// For the record of a command.
    let audit = AuditNote()

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        peer = source.channel.remoteAddress.flatMap(Self.text)
    }

    private static func text(_ address: SocketAddress) -> String? {
        guard let host = address.ipAddress, let port = address.port else { return nil }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
