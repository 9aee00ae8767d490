import HTTPTypes
import Hummingbird
import HummingbirdCore
import LayoverCore
import LayoverEngine
import LayoverSystem
import LayoverText
import Synchronization

/// Browsers that have logged in, and links that let one in, once.
///
/// A browser's event stream cannot send `Authorization`, so it has a cookie (RFC 6265bis): `HttpOnly`, so that no script reads it,
/// `SameSite=Strict`, so that no other page sends it, and with the port in its name, because cookies ignore ports. Sessions end with
/// the process.
final class BrowserSessions: Sendable {
    /// How long a session lasts. Default: 12 hours.
    static let sessionLength: Duration = .seconds(12 * 3600)
    /// How long a link can be used. Default: one minute.
    static let linkLength: Duration = .seconds(60)
    /// Sessions, and links, at a time; the oldest ends. Default: 100.
    static let countMax = 100

    private struct Grant: Sendable {
        var role: AdminRole
        var end: Timestamp
    }

    private struct State: Sendable {
        var sessions: [String: Grant] = [:]
        var links: [String: Grant] = [:]
    }

    private let clock: any EngineClock
    private let state = Mutex(State())

    init(clock: any EngineClock) { self.clock = clock }

    /// A secret for a link, which gives that role once; nil if the system has no random bytes.
    func makeLink(_ role: AdminRole) -> (code: String, end: Timestamp)? {
        guard let code = Self.secret() else { return nil }
        let now = clock.now()
        let end = now + Self.linkLength
        state.withLock { Self.add(Grant(role: role, end: end), code, to: &$0.links, now: now) }
        return (code, end)
    }

    /// The role of a link, which cannot be used again.
    func use(link code: String) -> AdminRole? {
        let now = clock.now()
        return state.withLock { state in
            guard let grant = state.links.removeValue(forKey: code), grant.end > now else { return nil }
            return grant.role
        }
    }

    /// The field that gives a browser a session; nil if the system has no random bytes.
    func cookie(_ role: AdminRole, for request: Request) -> String? {
        guard let secret = Self.secret() else { return nil }
        let now = clock.now()
        state.withLock { Self.add(Grant(role: role, end: now + Self.sessionLength), secret, to: &$0.sessions, now: now) }
        return "\(Self.name(request))=\(secret); Path=/; HttpOnly; SameSite=Strict; Max-Age=\(Self.sessionLength.components.seconds)"
    }

    /// The field that takes it back.
    func end(_ request: Request) -> String {
        if let secret = Self.secret(in: request) { state.withLock { _ = $0.sessions.removeValue(forKey: secret) } }
        return "\(Self.name(request))=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"
    }

    func role(of request: Request) -> AdminRole? {
        guard let secret = Self.secret(in: request) else { return nil }
        let now = clock.now()
        return state.withLock { state in
            guard let grant = state.sessions[secret], grant.end > now else { return nil }
            return grant.role
        }
    }

    // MARK: Text

    /// A look-up of 256 random bits tells nothing by its time.
    private static func secret() -> String? {
        (try? RandomBytes.make(count: 32)).map { Hexadecimal.text(of: $0) }
    }

    private static func name(_ request: Request) -> String {
        let authority = request.head.authority ?? ""
        let port = authority.hasSuffix("]") ? nil : authority.lastIndex(of: ":").map { authority[authority.index(after: $0)...] }
        return "layover-\(port.map(String.init) ?? "80")"
    }

    private static func secret(in request: Request) -> String? {
        let wanted = name(request) + "="
        for field in request.headers[values: .cookie] {
            for pair in field.split(separator: ";") {
                let pair = pair.drop { $0 == " " }
                if pair.hasPrefix(wanted) { return String(pair.dropFirst(wanted.count)) }
            }
        }
        return nil
    }

    private static func add(_ grant: Grant, _ secret: String, to grants: inout [String: Grant], now: Timestamp) {
        grants = grants.filter { $0.value.end > now }
        if grants.count >= countMax, let oldest = grants.min(by: { $0.value.end < $1.value.end }) { grants[oldest.key] = nil }
        grants[secret] = grant
    }
}
