@testable import LayoverCore

/// The reachability machine with a clock that a test moves.
struct ReachabilityBench {
    static let home = LinkSnapshot(
        links: [.init(index: 2, name: "wlan0", addresses: ["192.168.0.2/24"])],
        defaultRoutes: [.init(family: .ipv4, linkIndex: 2, gateway: "192.168.0.1")])
    static let office = LinkSnapshot(
        links: [.init(index: 3, name: "eth0", addresses: ["10.0.0.2/24"])],
        defaultRoutes: [.init(family: .ipv4, linkIndex: 3, gateway: "10.0.0.1")])
    /// A link without a way out.
    static let cable = LinkSnapshot(links: [.init(index: 3, name: "eth0", addresses: ["10.0.0.2/24"])])
    static let nothing = LinkSnapshot()

    var machine: Reachability
    var now = Timestamp.at(.seconds(100))

    init(mode: ReachabilityMode = .auto, hasProbe: Bool = false, links: LinkSnapshot? = home) {
        machine = Reachability(mode: mode, hasProbe: hasProbe, now: now)
        if let links { _ = learn(.links(links)) }
    }

    mutating func learn(_ fact: ReachabilityFact) -> [ReachabilityAction] { machine.observe(fact, now: now) }

    mutating func wait(_ duration: Duration) -> [ReachabilityAction] {
        now = now + duration
        return machine.advance(to: now)
    }

    /// A change, and what comes of it at the end of its window.
    mutating func settle(_ snapshot: LinkSnapshot) -> [ReachabilityAction] {
        learn(.links(snapshot)) + wait(.milliseconds(500))
    }

    var state: ReachabilityState { machine.view.state }
    var wakesIn: Duration? { machine.nextWakeAt.map { $0 - now } }
}
