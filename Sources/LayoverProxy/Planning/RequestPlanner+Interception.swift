import LayoverCore
import LayoverHTTP

/// Requests on a connection that was intercepted: they are for the origin that CONNECT named, and for no other.
extension RequestPlanner {
    /// - Parameter intercepted: The origin of the intercepted connection. Nil: the connection is not intercepted.
    /// - Returns: Where the request goes, whatever form its target has. Nil: the connection is not intercepted.
    /// - Throws: 421 if the head names another origin: what it asks for was not what the client's TLS connection is for
    ///   (RFC 9110 section 7.4).
    func addressInside(
        _ intercepted: Origin?, of head: RequestHead, _ cache: inout RequestAddressCache
    ) throws(Refusal) -> RequestAddress? {
        guard let intercepted else { return nil }
        if let named = cache.address(of: head), !Self.isSame(named.origin, intercepted) { throw Self.misdirected }
        if let host = head.hostAuthority {
            let named = Origin(scheme: .https, host: host.host, port: host.port)
            guard Self.isSame(named, intercepted) else { throw Self.misdirected }
        }
        return RequestAddress(origin: intercepted, host: intercepted.hostField)
    }

    /// A dot at the end of a name marks it as complete; it is the same host.
    private static func isSame(_ one: Origin, _ other: Origin) -> Bool {
        if one == other { return true }
        guard one.scheme == other.scheme, one.port == other.port else { return false }
        func bare(_ host: String) -> Substring { host.hasSuffix(".") ? host.dropLast() : host[...] }
        return bare(one.host) == bare(other.host)
    }

    private static let misdirected = Refusal(
        421, "misdirected", "The request names another origin than the CONNECT that opened this connection.", error: .httpRequestError)

    static let connectInside = Refusal(
        405, "method", "CONNECT is not possible inside an intercepted connection.", error: .httpRequestError, closes: true)
}
