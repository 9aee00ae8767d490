import Testing

@testable import LayoverCore

struct LinkSnapshotTests {
    private let ethernet = LinkSnapshot.Link(
        index: 2, name: "eth0", addresses: ["10.0.0.2/24", "2001:db8::2/64"])
    private let bare = LinkSnapshot.Link(index: 3, name: "veth", addresses: [])
    private let route = LinkSnapshot.DefaultRoute(family: .ipv4, linkIndex: 2, gateway: "10.0.0.1")

    @Test func linkWithoutAddressAndRouteIsLeftOut() {
        let snapshot = LinkSnapshot(links: [bare, ethernet])
        #expect(snapshot.links == [ethernet])
        #expect(snapshot.isUsable)
        #expect(!snapshot.hasDefaultRoute)
        #expect(!LinkSnapshot(links: [bare]).isUsable)
        #expect(!LinkSnapshot().isUsable)
    }

    @Test func aLinkWithARouteNeedsNoAddress() {
        let tunnel = LinkSnapshot.DefaultRoute(family: .ipv6, linkIndex: 3)
        let snapshot = LinkSnapshot(links: [bare], defaultRoutes: [tunnel])
        #expect(snapshot.links == [bare])
        #expect(snapshot.isUsable && snapshot.hasDefaultRoute)
    }

    @Test func aRouteOverALinkThatIsAwayIsLeftOut() {
        #expect(LinkSnapshot(links: [], defaultRoutes: [route]) == LinkSnapshot())
        // A multipath route names no link.
        let several = LinkSnapshot.DefaultRoute(family: .ipv4, linkIndex: 0)
        #expect(LinkSnapshot(links: [ethernet], defaultRoutes: [several]).hasDefaultRoute)
    }

    @Test func orderAndRepetitionMakeNoDifference() {
        let second = LinkSnapshot.DefaultRoute(family: .ipv6, linkIndex: 2, gateway: "fe80::1")
        let mirrored = LinkSnapshot.Link(
            index: 2, name: "eth0", addresses: ["2001:db8::2/64", "10.0.0.2/24"])
        let other = LinkSnapshot.Link(index: 1, name: "wlan0", addresses: ["192.168.0.2/24"])
        #expect(
            LinkSnapshot(links: [ethernet, other], defaultRoutes: [route, second])
                == LinkSnapshot(links: [other, mirrored], defaultRoutes: [second, route, second]))
    }

    @Test func linkChangesThatAffectAttemptsAreDifferences() {
        let before = LinkSnapshot(links: [ethernet], defaultRoutes: [route])
        var moved = ethernet
        moved.addresses = ["10.0.0.3/24", "2001:db8::2/64"]
        var elsewhere = route
        elsewhere.gateway = "10.0.0.254"
        var worse = route
        worse.metric = 100
        #expect(before != LinkSnapshot(links: [moved], defaultRoutes: [route]))
        #expect(before != LinkSnapshot(links: [ethernet], defaultRoutes: [elsewhere]))
        #expect(before != LinkSnapshot(links: [ethernet], defaultRoutes: [worse]))
        #expect(before != LinkSnapshot(links: [ethernet]))
        #expect(before == LinkSnapshot(links: [ethernet, bare], defaultRoutes: [route]))
    }
}
