import LayoverCore
import LayoverHTTP

/// Rewrites the addresses in a response for a client that uses the base URL of a route.
///
/// An address in the route's upstream becomes an address below the route's path at the proxy: a client that follows it stays in the
/// route. Other absolute addresses do not change. A relative address that leaves the upstream becomes absolute, because the client would
/// resolve it at the proxy. An absolute address stays absolute, because many programs take the field for a URL and do not resolve it.
final class RouteAddresses: Sendable {
    /// The resource that was asked for.
    private let resource: URLReference
    private let upstream: [String]?
    let host: String
    /// Empty, or begins with a slash and does not end with one.
    let basePath: [UInt8]
    /// The path at the proxy that stands for `basePath`.
    let place: [UInt8]
    let form: BaseURLForm
    /// Scheme and authority of the proxy for the client; nil if they are not known.
    private let proxy: (scheme: String, authority: String)?
    /// Whether the client reaches the proxy by https.
    var isSecure: Bool { proxy?.scheme == "https" }

    /// - Parameters:
    ///   - target: Path and query that were asked for at the origin.
    ///   - ownBase: What stands before a path of the proxy for the client; empty: nothing is known of it.
    init(_ use: BaseURLUse, target: String, ownBase: String) {
        let origin = use.upstream.origin
        resource = URLReference(Array((origin.description + (target == "*" ? "/" : target)).utf8))
        upstream = resource.origin
        host = origin.host
        basePath = Array(use.upstream.basePath.utf8)
        let base = URLReference(Array(ownBase.utf8))
        place = base.path + Array(use.place.utf8)
        form = use.form
        proxy = base.scheme.flatMap { scheme in base.authority.map { (scheme, $0) } }
    }

    /// The addresses of a ticket, by the routes as they are now. Nil: it came by no base URL, or its route has another upstream now.
    convenience init?(of record: TicketRecord, _ routes: RouteTable, ownBase: String) {
        guard let form = record.ticket.baseURL, let route = record.route.flatMap(routes.route(named:)),
            let upstream = route.upstream, upstream.origin == record.origin
        else { return nil }
        let target = record.url.dropFirst(record.origin.description.utf8.count)
        self.init(
            BaseURLUse(route: route, upstream: upstream, form: form), target: target.isEmpty ? "/" : String(target),
            ownBase: ownBase)
    }

    /// The path of the resource that was asked for, at the origin.
    var resourcePath: [UInt8] { resource.path }

    /// An address as the client is to have it. Nil: the address stays as it is.
    func rewriting(_ text: [UInt8]) -> [UInt8]? {
        guard !text.isEmpty else { return nil }
        let reference = URLReference(text)
        var target = reference.resolved(against: resource)
        if target.origin == upstream, upstream != nil, let rest = behindBase(target.path) {
            let isAbsolute = reference.authority != nil
            target.scheme = isAbsolute ? proxy?.scheme : nil
            target.authority = isAbsolute ? proxy?.authority : nil
            target.path = place + rest
            return target.text
        }
        return reference.scheme == nil ? target.text : nil
    }

    /// The path behind the base path. Nil: the path does not lie in the upstream, or may not for a client that reads
    /// `%2e` as a dot and a backslash as a slash.
    private func behindBase(_ path: [UInt8]) -> [UInt8]? {
        let path = path.isEmpty ? [UInt8(ascii: "/")] : path
        guard path.starts(with: basePath) else { return nil }
        let rest = path.dropFirst(basePath.count)
        guard rest.first == UInt8(ascii: "/"), !rest.contains(UInt8(ascii: "\\")) else { return nil }
        let hasDots = rest.split(separator: UInt8(ascii: "/")).contains { segment in
            let text = String(decoding: segment, as: UTF8.self).lowercased().replacing("%2e", with: ".")
            return text == "." || text == ".."
        }
        return hasDots ? nil : Array(rest)
    }
}

/// The base URL of a route by which a request came.
struct BaseURLUse {
    let route: Route
    let upstream: Route.Upstream
    let form: BaseURLForm

    /// The path at the proxy in place of the URL of the upstream: `/.layover/route/{name}`, followed by `/~{key}` if the client gave
    /// the key in the path.
    var place: String {
        let place = RequestPlanner.routePrefix + route.name
        guard form == .keyed, let key = route.key else { return place }
        return place + "/~" + key.revealed
    }
}
