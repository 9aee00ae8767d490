package import LayoverCore

/// How Layover learns whether the network is there.
package struct ReachabilitySettings: Sendable, Hashable {
    /// An HTTP request that is made to see whether the network works.
    package struct Probe: Sendable, Hashable {
        /// An `http://` or `https://` address to probe. Nil: there is no probe. Default: nil.
        package var url: Secret?
        /// Any other status means that somebody else answered: a captive portal. Default: 204.
        package var expectStatus = 204
        /// Default: 10 s.
        package var interval = Duration.seconds(10)
    }

    /// Default: auto.
    package var mode = ReachabilityMode.auto
    package var probe = Probe()
    /// How long signs of a change are gathered before they count as one. Default: 500 ms.
    package var debounce = Duration.milliseconds(500)
}
