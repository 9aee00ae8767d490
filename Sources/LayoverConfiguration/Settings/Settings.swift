package import LayoverCore

/// Everything that a configuration can say, checked and complete.
package struct Settings: Sendable {
    package var proxy = ProxySettings()
    package var admin = AdminSettings()
    package var log = LogSettings()
    package var store = StoreSettings()
    package var limits = Limits()
    package var timeouts = Timeouts()
    package var reachability = ReachabilitySettings()
    package var upstreamProxy = UpstreamProxySettings()
    package var notify = NotifySettings()
    package var tls = TLSSettings()
    /// Routes and the policies they use.
    package var routes = RouteTable()

    /// The defaults.
    package init() {}
}
