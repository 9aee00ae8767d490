package import LayoverCore

/// The proxy that upstreams are reached through.
package struct UpstreamProxySettings: Sendable, Hashable {
    /// The parent proxy of all upstreams but the exceptions. Nil: there is no such proxy. Default: nil.
    package var url: ParentProxy?
    /// Hosts that are reached without it. Default: none.
    package var noProxy: [ParentProxyRules.Exception] = []

    var rules: ParentProxyRules {
        var rules = ParentProxyRules()
        rules.general = url
        rules.exceptions = noProxy
        return rules
    }
}
