package import LayoverCore

/// Selects cached responses.
package enum CacheSelection: Sendable, Hashable {
    case all
    /// The responses of all origins with this host, in lower case, whatever the scheme and the port.
    case host(String)
    /// The responses of one URL, all variants.
    case url(Origin, target: String)
}
