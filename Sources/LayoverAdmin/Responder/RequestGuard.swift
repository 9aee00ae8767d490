import HTTPTypes
import Hummingbird
import HummingbirdCore

/// Keeps foreign pages and callers without the token away from the admin API.
///
/// A web page can make a browser send requests here: under a name of its own that resolves to loopback (DNS
/// rebinding), which the Host field reveals, or across sites, which Origin (RFC 6454) and Sec-Fetch-Site
/// (Fetch Metadata) reveal. Programs send neither of the latter two.
struct RequestGuard {
    /// Whether the process lives is no secret, and a container's health check has no token. Who logs in has none yet. Nor has a browser
    /// that asks for its proxy.
    private static let openPaths: Set<String> = [
        "/livez", "/readyz", "/proxy.pac", "/login", "/logout", "/dashboard/style.css", "/dashboard/theme.js", "/dashboard/icon.svg",
    ]

    private let allowedHosts: Set<String>
    private let access: AdminAccess

    init(options: AdminOptions, access: AdminAccess) {
        allowedHosts = Set(options.allowedHosts.map { $0.lowercased() })
        self.access = access
    }

    func check(_ request: Request) throws(AdminProblem) {
        guard request.headers[values: .host].isEmpty else {
            // The first one became the authority, so this is a second (RFC 9112 section 3.2).
            throw .badRequest("The request has more than one Host field.")
        }
        try checkHost(of: request)
        try checkOrigin(of: request)
        guard !Self.openPaths.contains(request.uri.path) else { return }
        guard let role = access.role(of: request) else { throw .unauthorized }
        guard role != .viewer || request.method == .get || request.method == .head || request.uri.path == "/v1/login-links"
        else { throw .readOnly }
    }

    private func checkHost(of request: Request) throws(AdminProblem) {
        guard let host = request.head.authority.flatMap(Self.host(ofAuthority:)), allowedHosts.contains(host)
        else { throw .foreignHost }
    }

    private func checkOrigin(of request: Request) throws(AdminProblem) {
        for site in request.headers[values: .secFetchSite] where site != "same-origin" && site != "none" {
            throw .foreignOrigin
        }
        let authority = request.head.authority?.lowercased() ?? ""
        for origin in request.headers[values: .origin] {
            // A proxy in front of the admin port may speak TLS, so both schemes are its own.
            guard ["http://\(authority)", "https://\(authority)"].contains(origin.lowercased()) else {
                throw .foreignOrigin
            }
        }
    }

    /// The host in small letters, with brackets around an IPv6 literal; nil if it is no authority.
    static func host(ofAuthority authority: String) -> String? {
        let text = authority.lowercased()
        let end =
            text.hasPrefix("[")
            ? text.firstIndex(of: "]").map { text.index(after: $0) }
            : text.firstIndex(of: ":") ?? text.endIndex
        guard let end, end > text.startIndex else { return nil }
        let port = text[end...]
        // Digits of ASCII only: `isNumber` also holds for those of other scripts.
        let isPort = port.hasPrefix(":") && port.dropFirst().utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
        guard port.isEmpty || isPort else { return nil }
        return String(text[..<end])
    }
}

extension HTTPField.Name {
    /// Fetch Metadata Request Headers, section 2.4.
    static let secFetchSite = HTTPField.Name(token: "sec-fetch-site")
    static let host = HTTPField.Name(token: "host")
    /// W3C Referrer Policy, section 4.1.
    static let referrerPolicy = HTTPField.Name(token: "referrer-policy")
    static let lastEventID = HTTPField.Name(token: "last-event-id")

    /// For names that are known to be tokens.
    init(token name: StaticString) {
        guard let parsed = HTTPField.Name(name.description) else { preconditionFailure("no token: \(name)") }
        self = parsed
    }
}
