import HTTPTypes
import Hummingbird
import HummingbirdCore
import LayoverCore
import LayoverSystem

/// The rights of a caller of the admin port.
enum AdminRole: String, Codable, Sendable {
    /// Everything, bodies and the ids of tickets included.
    case admin
    /// Everything but bodies and the ids of tickets: no token is asked for, and only this machine is admitted.
    case local
    /// Reads what `local` reads, and changes nothing.
    case viewer
}

/// Decides who a caller is: by the token in its request, or by the cookie of a browser that has logged in.
///
/// With `admin.token` every caller has to show a token. Without one the rest of the API is open to every program on the machine,
/// and bodies need the token in the file `admin-token`, which only its own user can read.
struct AdminAccess: Sendable {
    private let isOpen: Bool
    private let admin: BearerToken?
    private let viewer: BearerToken?
    private let sessions: BrowserSessions

    init(options: AdminOptions, sessions: BrowserSessions) {
        isOpen = options.token == nil
        admin = (options.token ?? options.bodyToken).map(BearerToken.init)
        viewer = options.viewToken.map(BearerToken.init)
        self.sessions = sessions
    }

    /// Whether callers need a token: `admin.token` is set.
    var asksForToken: Bool { !isOpen }

    /// The role of the caller. Nil: the caller has to show a token.
    func role(of request: Request) -> AdminRole? {
        let field = request.headers[.authorization]
        if admin?.admits(field) == true { return .admin }
        if viewer?.admits(field) == true { return .viewer }
        if field == nil, let role = sessions.role(of: request) { return role }
        return isOpen ? .local : nil
    }

    func isAdmin(_ request: Request) -> Bool { role(of: request) == .admin }

    /// The role that a token gives, as a person types it.
    func role(ofToken token: String) -> AdminRole? {
        let field = "Bearer \(token)"
        if admin?.admits(field) == true { return .admin }
        return viewer?.admits(field) == true ? .viewer : nil
    }

    /// What the token of a caller makes it. Without any token only this machine is admitted (`admin.listen`).
    func name(of request: Request) -> String { isAdmin(request) ? "admin" : CommandAuthor.loopback.who }
}

/// The admin token, compared in constant time.
struct BearerToken: Sendable {
    private let token: Secret

    init(_ token: Secret) { self.token = token }

    /// - Parameter field: The value of Authorization (RFC 6750 section 2.1).
    func admits(_ field: String?) -> Bool {
        guard let field, let space = field.firstIndex(of: " "), field[..<space].lowercased() == "bearer"
        else {
            return false
        }
        return ConstantTime.isEqual(
            Array(field[space...].drop { $0 == " " }.utf8), Array(token.revealed.utf8))
    }
}
