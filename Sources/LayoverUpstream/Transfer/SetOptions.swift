import LayoverCore

/// The options that an easy handle has now. Setting one costs a call and often a copy, and attempts that
/// follow each other on a handle are mostly alike.
struct SetOptions {
    /// The properties of a request that decide libcurl's options UPLOAD, NOBODY and CUSTOMREQUEST.
    struct Shape: Equatable {
        var method: String
        var hasBody: Bool
    }

    /// The first receiver of the request: the origin, or the parent proxy that forwards it. `isSecure`: TLS is made with it.
    var peer: Origin?
    var isSecure = false
    /// The origin or parent proxy whose name is resolved for the connection.
    var endpoint: Origin?
    /// The parent proxy that opens a tunnel to the origin. A parent proxy that forwards the request is the `peer`.
    var tunnelProxy: ParentProxy?
    /// Whether CONNECT to the parent proxy carries fields of the request.
    var hasConnectFields = false
    var isDial = false
    var shape: Shape?
    var target = ""
    var isFresh = false
    var hasResolveEntry = false
    var forbidsReuse = false
    var ignoresLength = false
    var connectMilliseconds = 0
    var maySeek = false
    var isVerbose = false
    var offersHTTP2 = false
}
