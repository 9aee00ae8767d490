/// How the end of a response's body is found (RFC 9112 section 6.3).
package enum ResponseFraming: Equatable, Sendable {
    /// There is no body: HEAD, 1xx, 204, 304, and 2xx to CONNECT.
    case none
    /// So many bytes follow.
    case length(Int)
    /// Chunks follow.
    case chunked
    /// The body ends with the connection.
    case untilClose
}
