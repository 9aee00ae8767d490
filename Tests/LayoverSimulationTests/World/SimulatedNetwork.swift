import LayoverCore

/// State of the network of the machine.
struct SimulatedNetwork {
    var isDown = false
    var hasPortal = false
    /// Changes with each place that the machine is carried to.
    var place = 0

    var snapshot: LinkSnapshot {
        if isDown { return LinkSnapshot() }
        return LinkSnapshot(
            links: [.init(index: 2, name: "wlan0", addresses: ["10.0.\(place).2/24"])],
            defaultRoutes: [.init(family: .ipv4, linkIndex: 2, gateway: "10.0.\(place).1")])
    }

    var probe: ProbeResult {
        if isDown { return .failed(.dnsError, message: "no network") }
        return hasPortal ? .portal(status: 302) : .expected
    }
}
