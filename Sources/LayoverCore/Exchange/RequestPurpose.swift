/// What an attempt is to do.
package enum RequestPurpose: Sendable, Hashable {
    /// Send a request and receive its response.
    case transfer
    /// Make a connection and hand it over (CONNECT).
    case dial
    /// The same; the exchange sends the request on the dialled socket, which may become a tunnel (`Upgrade`).
    case upgrade
}
