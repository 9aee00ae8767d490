package import LayoverCore

/// The proxy that upstreams are reached through.
package struct UpstreamProxySettings: Sendable, Hashable {
    /// Nil: none. Default: nil.
    package var url: ParentProxy?
    /// Hosts that are reached without it. Default: none.
    package var noProxy: [ParentRules.Exception] = []

    var rules: ParentRules {
        var rules = ParentRules()
        rules.general = url
        rules.exceptions = noProxy
        return rules
    }
}
