import LayoverCore
import Testing

@testable import LayoverMonitor

struct NetlinkTableTests {
    private static let route = LinkSnapshot.DefaultRoute(family: .ipv4, linkIndex: 2, gateway: "192.0.2.1")
    private static let up = NetlinkMessage.link(index: 2, name: "wire", isRunning: true)
    private static let address = NetlinkMessage.address(link: 2, text: "192.0.2.7/24")

    private func table(_ messages: NetlinkMessage...) -> NetlinkTable {
        var table = NetlinkTable()
        for message in messages { table.take(message) }
        return table
    }

    @Test func theOrderOfMessagesDoesNotMatter() {
        let wanted = LinkSnapshot(
            links: [.init(index: 2, name: "wire", addresses: ["192.0.2.7/24"])], defaultRoutes: [Self.route])
        #expect(table(Self.up, Self.address, .defaultRoute(Self.route)).snapshot == wanted)
        #expect(table(.defaultRoute(Self.route), Self.address, Self.up).snapshot == wanted)
        #expect(wanted.isUsable && wanted.hasDefaultRoute)
    }

    @Test func aLinkWithoutCarrierCarriesNothing() {
        let down = table(
            Self.up, Self.address, .defaultRoute(Self.route), .link(index: 2, name: "wire", isRunning: false))
        #expect(down.snapshot == LinkSnapshot())
    }

    @Test func aLinkThatIsGoneTakesAllWithIt() {
        let gone = table(Self.up, Self.address, .defaultRoute(Self.route), .linkGone(index: 2))
        #expect(gone == NetlinkTable())
    }

    @Test func addressesAndRoutesGoOneByOne() {
        var both = table(Self.up, Self.address, .defaultRoute(Self.route))
        both.take(.defaultRouteGone(Self.route))
        #expect(both == table(Self.up, Self.address))
        both.take(.addressGone(link: 2, text: "192.0.2.7/24"))
        #expect(both == table(Self.up))
        #expect(!both.snapshot.isUsable)
    }

    @Test func unknownLinkCanBeRemoved() {
        let gone = table(
            .linkGone(index: 9), .addressGone(link: 9, text: "192.0.2.9/24"), .defaultRouteGone(Self.route), .done,
            .interrupted, .failed(errno: 16))
        #expect(gone == NetlinkTable())
    }

    @Test func onlyNewFactsMakeADifference() {
        let known = table(Self.up, Self.address, .defaultRoute(Self.route))
        #expect(!known.differs(by: Self.up))
        #expect(!known.differs(by: Self.address))
        #expect(!known.differs(by: .defaultRoute(Self.route)))
        #expect(!known.differs(by: .linkGone(index: 5)))
        #expect(known.differs(by: .link(index: 2, name: "wire", isRunning: false)))
        #expect(known.differs(by: .addressGone(link: 2, text: "192.0.2.7/24")))
        #expect(known.differs(by: .defaultRoute(.init(family: .ipv4, linkIndex: 2, gateway: "192.0.2.2"))))
    }
}
