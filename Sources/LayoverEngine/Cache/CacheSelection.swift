package import LayoverCore

/// Selects cached responses.
package enum CacheSelection: Sendable, Hashable {
    case all
    /// Of all origins with this host, in lower case, whatever the scheme and the port.
    case host(String)
    /// Of one URL, all variants.
    case url(Origin, target: String)
}
