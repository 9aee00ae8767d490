import HTTPTypes
import Hummingbird
import HummingbirdCore
import LayoverCore
import LayoverEngine
import NIOCore

/// How a browser gets in: by a link that works once (`layover open`), or by a token that a person types.
extension AdminRoutes {
    /// Longest form of the page.
    private static let formByteCountMax = 4096

    func addLoginRoutes(to router: Router<AdminContext>) {
        router.post("/v1/login-links") { request, _ in try await makeLink(request) }
        router.get("/login") { request, _ in try showLogin(request) }
        router.post("/login") { request, context in try await logIn(request, context) }
        router.post("/logout") { request, _ in
            try refuseParameters(request)
            return Response(status: .seeOther, headers: [.location: "/login", .setCookie: sessions.end(request)])
        }
    }

    private func makeLink(_ request: Request) async throws -> Response {
        try refuseParameters(request)
        _ = try await input.document(CommandRequest.self, of: request)
        guard let role = access.role(of: request), role != .local else { throw AdminProblem.bodyMasked }
        guard let link = sessions.makeLink(role) else { throw AdminProblem.internalError }
        let authority = request.head.authority ?? ""
        return try json(
            LoginLinkDocument(url: "http://\(authority)/login?code=\(link.code)", expiresAt: wall.text(of: link.end)))
    }

    private func showLogin(_ request: Request) throws -> Response {
        let parameters = try QueryParameters(request.uri.query, known: ["code", "to"])
        guard let code = parameters["code"] else { return page(to: parameters["to"], problem: nil) }
        guard let role = sessions.use(link: code) else {
            return page(to: nil, problem: "The link was used already, or is older than a minute. 'layover open' makes a new one.")
        }
        return try welcome(role, to: parameters["to"], request)
    }

    private func logIn(_ request: Request, _ context: AdminContext) async throws -> Response {
        try refuseParameters(request)
        let form = try QueryParameters(
            try await RequestInput(byteCountMax: Self.formByteCountMax).form(of: request), known: ["token", "to"])
        guard let role = access.role(ofToken: form["token"] ?? "") else {
            try await guesses.failed(from: context)
            guard request.wantsPage else { throw AdminProblem.unauthorized }
            return page(to: form["to"], problem: "This is not the token.", status: .unauthorized)
        }
        return try welcome(role, to: form["to"], request)
    }

    private func welcome(_ role: AdminRole, to place: String?, _ request: Request) throws -> Response {
        guard let cookie = sessions.cookie(role, for: request) else { throw AdminProblem.internalError }
        return Response(status: .seeOther, headers: [.location: Self.place(place), .setCookie: cookie])
    }

    private func page(to place: String?, problem: String?, status: HTTPResponse.Status = .ok) -> Response {
        let text = String(decoding: PackageResources.login_html, as: UTF8.self)
            .replacing("%%to%%", with: DashboardPage.escaped(Self.place(place)))
            .replacing("%%problem%%", with: DashboardPage.escaped(problem ?? ""))
        return Response(
            status: status,
            headers: [.contentType: "text/html; charset=utf-8", .contentSecurityPolicy: DashboardPage.securityPolicy],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    /// Only a place on this server: nobody is led elsewhere by a link to the login page.
    private static func place(_ text: String?) -> String {
        guard let text, text.hasPrefix("/?") || text == "/", text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return "/" }
        return text
    }
}

extension Request {
    /// Whether the client accepts HTML, as the browser of a person does.
    var wantsPage: Bool { (headers[.accept] ?? "").contains("text/html") }
}

/// A link that lets a browser in, once.
struct LoginLinkDocument: Codable, Sendable {
    var url: String
    var expiresAt: String
}
