/// What the kernel says about the ways out of this machine, at one moment.
///
/// Two snapshots are equal exactly when nothing differs that an attempt could notice: links without a
/// global address and without a default route (the ends of containers, say) are left out.
package struct LinkSnapshot: Sendable, Hashable {
    /// A link that is up, running and not loopback.
    package struct Link: Sendable, Hashable {
        /// The kernel's interface index (if_nametoindex(3)); it is never reused while the link exists.
        package var index: Int32
        package var name: String
        /// The link's global addresses as `address/prefix`, sorted. Link-local and tentative ones do not count.
        package var addresses: [String]

        package init(index: Int32, name: String, addresses: [String]) {
            self.index = index
            self.name = name
            self.addresses = addresses.sorted()
        }
    }

    package enum Family: String, Sendable, Hashable, CaseIterable {
        case ipv4, ipv6
    }

    /// A route for every destination of a family that no other route is for.
    package struct DefaultRoute: Sendable, Hashable {
        package var family: Family
        /// Index of the link it leaves by; 0 when it names none (a multipath route).
        package var linkIndex: Int32
        /// Nil on a point-to-point link.
        package var gateway: String?
        /// Lower wins.
        package var metric: UInt32
        /// The routing table; VPNs keep their own.
        package var table: UInt32

        package init(
            family: Family, linkIndex: Int32, gateway: String? = nil, metric: UInt32 = 0,
            table: UInt32 = 254
        ) {
            self.family = family
            self.linkIndex = linkIndex
            self.gateway = gateway
            self.metric = metric
            self.table = table
        }
    }

    /// By index. Only links that an attempt could use.
    package let links: [Link]
    /// In a fixed order.
    package let defaultRoutes: [DefaultRoute]

    /// - Parameters:
    ///   - links: Links that are up and running, loopback left out. Those that nothing could leave by are dropped here.
    ///   - defaultRoutes: Default routes of every table. Those over a link that is not given are dropped here.
    package init(links: [Link] = [], defaultRoutes: [DefaultRoute] = []) {
        let running = Set(links.map(\.index))
        let routes = defaultRoutes.filter { $0.linkIndex == 0 || running.contains($0.linkIndex) }
        let routed = Set(routes.map(\.linkIndex))
        self.links =
            links
            .filter { !$0.addresses.isEmpty || routed.contains($0.index) }
            .sorted { $0.index < $1.index }
        self.defaultRoutes = Set(routes).sorted { $0.order < $1.order }
    }

    /// How far a request could get.
    enum Extent: Int, Comparable {
        case nowhere, neighbours, everywhere

        static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
    }

    var extent: Extent { isUsable ? (hasDefaultRoute ? .everywhere : .neighbours) : .nowhere }

    /// Whether anything could leave this machine at all. A link without a default route counts: the
    /// origin may be a neighbour.
    package var isUsable: Bool { !links.isEmpty }

    /// Whether destinations beyond the neighbours have a route.
    package var hasDefaultRoute: Bool { !defaultRoutes.isEmpty }
}

extension LinkSnapshot.DefaultRoute {
    /// Compared as a tuple; says nothing about preference.
    fileprivate var order: (String, UInt32, UInt32, Int32, String) {
        (family.rawValue, table, metric, linkIndex, gateway ?? "")
    }
}
