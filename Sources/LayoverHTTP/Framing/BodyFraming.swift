/// How the end of a request's body is found. Decided by the fields alone, never by the method.
package enum BodyFraming: Equatable, Sendable {
    /// There is no body.
    case none
    /// So many bytes follow. May be 0, if the client said so.
    case length(Int)
    /// Chunks follow, and perhaps trailers.
    case chunked

    /// Whether any byte of a body can follow.
    package var hasBody: Bool {
        switch self {
        case .none: false
        case .length(let byteCount): byteCount > 0
        case .chunked: true
        }
    }
}
