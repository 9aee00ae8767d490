import Foundation
package import LayoverCore

/// How a request goes through its parent proxy.
package enum ParentUse: Sendable, Hashable {
    /// There is none.
    case none
    /// The proxy gets the request itself, in absolute form (RFC 9112 section 3.2.2).
    case forward
    /// The proxy opens a connection to the origin: CONNECT (RFC 9110 section 9.3.6), or SOCKS.
    case tunnel
    /// The proxy is only connected to. TLS with it, and CONNECT, are up to the receiver of the socket.
    case reach
}

extension UpstreamRequest {
    /// What a proxy can forward it forwards: many let no CONNECT through but to ports of TLS. A dial goes by the scheme of its origin, so
    /// that a connection for a plain request ends at the proxy. The socket of a connection with TLS of libcurl could not be handed over.
    package var parentUse: ParentUse {
        guard let parent else { return .none }
        if parent.speaksHTTP, origin.scheme == .http, purpose != .upgrade { return .forward }
        return parent.isSecure && purpose != .transfer ? .reach : .tunnel
    }

    /// The first receiver of the request, whose connections may carry it: the origin, or the parent proxy that forwards it.
    package var peer: Origin {
        guard let parent, parentUse == .forward || parentUse == .reach else { return origin }
        return parent.hop
    }

    /// Where the connection goes: what is resolved, and whose address is judged.
    package var endpoint: Origin { parent?.hop ?? origin }

    /// Whether TLS is made with the peer.
    package var isPeerSecure: Bool {
        guard let parent, parentUse == .forward else { return origin.scheme == .https }
        return parent.isSecure
    }

    /// The target as it stands in the request line. `OPTIONS *` is the origin without a path (RFC 9112 section 3.2.4).
    package var wireTarget: String {
        guard parentUse == .forward else { return target }
        return target == "*" ? "http://\(host)" : "http://\(host)\(target)"
    }

    /// The value of Proxy-Authorization with which the parent proxy gets the request itself. Nil: none.
    package var parentAuthorization: String? {
        guard parentUse == .forward else { return nil }
        return parent?.authorization
    }
}

extension ParentProxy {
    /// RFC 7617.
    package var authorization: String? {
        hasCredentials ? "Basic " + Data("\(user):\(password.revealed)".utf8).base64EncodedString() : nil
    }
}
