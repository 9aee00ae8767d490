import Foundation
package import LayoverCore

/// How a request goes through its parent proxy.
package enum ParentProxyUse: Sendable, Hashable {
    /// There is none.
    case none
    /// The proxy gets the request itself, in absolute form (RFC 9112 section 3.2.2).
    case forward
    /// The proxy opens a connection to the origin: CONNECT (RFC 9110 section 9.3.6), or SOCKS.
    case tunnel
    /// The proxy is only connected to. TLS with it, and CONNECT (`ParentProxyConnect`), are up to the receiver of the socket.
    case reach
}

extension UpstreamRequest {
    /// A plain request is forwarded by an HTTP proxy, because many proxies allow CONNECT only to ports of TLS. A dial follows the scheme
    /// of its origin, so that the connection for a plain request ends at the proxy. Any other dial, and an upgrade, only reaches an HTTP
    /// proxy: libcurl could not hand over the socket of a connection with TLS, and judges a response to CONNECT by fewer facts.
    package var parentProxyUse: ParentProxyUse {
        guard let parentProxy else { return .none }
        guard parentProxy.speaksHTTP else { return .tunnel }
        if origin.scheme == .http, purpose != .upgrade { return .forward }
        return purpose == .transfer ? .tunnel : .reach
    }

    /// The first receiver of the request, whose connections may carry it: the origin, or the parent proxy that forwards it.
    package var peer: Origin {
        guard let parentProxy, parentProxyUse == .forward || parentProxyUse == .reach else { return origin }
        return parentProxy.gate
    }

    /// Where the connection goes: what is resolved, and whose address is judged.
    package var endpoint: Origin { parentProxy?.gate ?? origin }

    /// Whether TLS is made with the peer.
    package var isPeerSecure: Bool {
        guard let parentProxy, parentProxyUse == .forward else { return origin.scheme == .https }
        return parentProxy.isSecure
    }

    /// The target as it stands in the request line. `OPTIONS *` is the origin without a path (RFC 9112 section 3.2.4).
    package var wireTarget: String {
        guard parentProxyUse == .forward else { return target }
        return target == "*" ? "http://\(host)" : "http://\(host)\(target)"
    }

    /// The value of Proxy-Authorization with which the parent proxy gets the request itself. Nil: the request has no such field.
    package var parentProxyAuthorization: String? {
        guard parentProxyUse == .forward else { return nil }
        return parentProxy?.authorization
    }
}

extension ParentProxy {
    /// RFC 7617.
    package var authorization: String? {
        hasCredentials ? "Basic " + Data("\(user):\(password.revealed)".utf8).base64EncodedString() : nil
    }
}
