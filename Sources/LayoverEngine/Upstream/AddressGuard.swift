package import LayoverCore

/// Decides which addresses must not be connected to, whatever name they were resolved from.
package protocol AddressGuard: Sendable {
    /// - Parameters:
    ///   - address: Numeric IPv4 or IPv6 address, without brackets or zone.
    ///   - allow: Exceptions of the route: literals or `address/prefix`.
    /// - Returns: Why the address is refused, or nil.
    func refusal(of address: String, port: Int, allow: [String]) -> FailureKind?

    /// The same for the host of a request, before any attempt: every spelling of an address that
    /// getaddrinfo(3) would take (`127.1`, `0x7f000001`, `0`), and `localhost`. Nil for names.
    func refusal(ofLiteral host: String, port: Int, allow: [String]) -> FailureKind?
}
