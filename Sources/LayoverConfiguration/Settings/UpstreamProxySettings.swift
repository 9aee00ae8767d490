package import LayoverCore

/// The proxy that upstreams are reached through.
package struct UpstreamProxySettings: Sendable, Hashable {
    /// Nil: none. Default: nil.
    package var url: Secret?
    /// Hosts that are reached without it. Default: none.
    package var noProxy: [String] = []
}
