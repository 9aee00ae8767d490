/// The schemes we forward.
package enum Scheme: UInt8, Hashable, Sendable {
    case http, https

    package var defaultPort: Int { self == .http ? 80 : 443 }
    package var name: String { self == .http ? "http" : "https" }
}

/// The form of a request target (RFC 9112 section 3.2).
///
/// The host of `absolute` and `authority` is `RequestHead.targetAuthority`; it is made on demand.
package enum RequestTarget: Sendable, Equatable {
    /// A path with an optional query, for a server. `targetRange` is all of it.
    case origin
    /// `*`, only with OPTIONS.
    case asterisk
    /// `http://…` or `https://…`. The range is what follows the authority: a path, a query, both,
    /// or nothing (which means `/`, and `*` for OPTIONS).
    case absolute(Scheme, pathRange: Range<Int>)
    /// `host:port`, only with CONNECT.
    case authority
}

/// `RequestTarget` as a head keeps it.
enum TargetForm: Sendable {
    case origin
    case asterisk
    case absolute(Scheme, path: CompactRange)
    case authority
}
