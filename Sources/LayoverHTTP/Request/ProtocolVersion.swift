/// The version of HTTP in which a request was received (RFC 9110 section 2.5).
package enum ProtocolVersion: Sendable {
    case http10
    case http11
    case http2

    /// As people know it.
    package var name: String {
        switch self {
        case .http10: "HTTP/1.0"
        case .http11: "HTTP/1.1"
        case .http2: "HTTP/2"
        }
    }

    /// `received-protocol` of a Via member, without the name of the protocol (RFC 9110 section 7.6.3).
    var viaVersion: StaticString {
        switch self {
        case .http10: "1.0"
        case .http11: "1.1"
        case .http2: "2"
        }
    }
}
