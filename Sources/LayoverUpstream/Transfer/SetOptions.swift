import LayoverCore

/// The options that an easy handle has now. Setting one costs a call and often a copy, and attempts that
/// follow each other on a handle are mostly alike.
struct SetOptions {
    /// The part of a request that decides libcurl's idea of it.
    struct Shape: Equatable {
        var method: String
        var hasBody: Bool
    }

    /// Whoever answers on the connection, and how it is got at.
    var peer: Origin?
    var isSecure = false
    /// Where the connection goes.
    var endpoint: Origin?
    /// The parent proxy that opens the way. One that gets the request itself is the peer.
    var tunnelProxy: ParentProxy?
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
