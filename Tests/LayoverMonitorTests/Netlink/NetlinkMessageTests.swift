import CLinux
import Glibc
import LayoverCore
import LayoverTestSupport
import Testing

@testable import LayoverMonitor

struct NetlinkMessageTests {
    private static let running: UInt32 = 0x1 | 0x10000
    private static let sixth: [UInt8] = [0x20, 0x01, 0x0d, 0xb8] + [UInt8](repeating: 0, count: 11) + [7]

    // MARK: Links

    /// IFF_UP 0x1, IFF_LOOPBACK 0x8, IFF_RUNNING 0x40, IFF_LOWER_UP 0x10000, IFF_DORMANT 0x20000.
    private static let flags: [(UInt32, Bool)] = [
        (0x10001, true), (0x10041, true), (0x1, false), (0x41, false), (0x10000, false), (0, false),
        (0x10009, false), (0x30001, false),
    ]

    @Test(arguments: flags)
    func aLinkRunsOnlyIfItIsUpWithCarrierAndNoLoopback(flags: UInt32, isRunning: Bool) {
        #expect(
            NetlinkBytes().link(3, flags: flags).parsed == [.link(index: 3, name: "wire", isRunning: isRunning)])
    }

    // MARK: Addresses

    @Test func globalAddressesOfBothFamiliesAreSeenAndOfALinkItsLocalEnd() {
        let bytes = NetlinkBytes().address(2, [192, 0, 2, 7]).address(2, Self.sixth, prefix: 64)
            .address(2, [10, 0, 0, 1], prefix: 32, peer: [10, 0, 0, 2])
        #expect(
            bytes.parsed == [
                .address(link: 2, text: "192.0.2.7/24"), .address(link: 2, text: "2001:db8::7/64"),
                .address(link: 2, text: "10.0.0.1/32"),
            ])
    }

    @Test(arguments: [UInt32(IFA_F_TENTATIVE), UInt32(IFA_F_DADFAILED), UInt32(IFA_F_TENTATIVE) | 0x100])
    func anAddressThatCannotBeUsedYetCountsAsGone(flags: UInt32) {
        #expect(
            NetlinkBytes().address(2, Self.sixth, prefix: 64, longFlags: flags).parsed
                == [.addressGone(link: 2, text: "2001:db8::7/64")])
        #expect(
            NetlinkBytes().address(2, Self.sixth, prefix: 64, flags: UInt8(flags & 0xff)).parsed
                == [.addressGone(link: 2, text: "2001:db8::7/64")])
    }

    // MARK: Routes

    @Test func defaultRoutesOfBothFamiliesAreSeen() {
        let bytes = NetlinkBytes().route(metric: 100).route(family: AF_INET6, gateway: Self.sixth)
            .route(gateway: nil, table: 252, longTable: 51820).route(link: nil, gateway: nil)
        #expect(
            bytes.parsed == [
                .defaultRoute(.init(family: .ipv4, linkIndex: 2, gateway: "192.0.2.1", metric: 100)),
                .defaultRoute(.init(family: .ipv6, linkIndex: 2, gateway: "2001:db8::7")),
                // The long number of a table wins over the short one.
                .defaultRoute(.init(family: .ipv4, linkIndex: 2, table: 51820)),
                // A route with several paths has no link.
                .defaultRoute(.init(family: .ipv4, linkIndex: 0)),
            ])
    }

    // MARK: Whole datagrams

    @Test func whatDoesNotConcernTheWayOutIsNotSeen() {
        let bridgePorts = NetlinkBytes().link(3, flags: Self.running, isGone: true, family: UInt8(AF_BRIDGE))
            .link(3, flags: 0, family: UInt8(AF_BRIDGE))
        #expect(bridgePorts.parsed.isEmpty)
        let localAddresses = NetlinkBytes().address(2, [169, 254, 1, 1], scope: UInt8(RT_SCOPE_LINK.rawValue))
            .address(1, [127, 0, 0, 1], scope: UInt8(RT_SCOPE_HOST.rawValue))
        #expect(localAddresses.parsed.isEmpty)
        let otherRoutes = NetlinkBytes().route(prefix: 24, destination: [10, 0, 0, 0])
            .route(kind: UInt8(RTN_UNREACHABLE)).route(kind: UInt8(RTN_BLACKHOLE)).route(kind: UInt8(RTN_PROHIBIT))
            .route(destination: [10, 0, 0, 1]).route(flags: UInt32(RTM_F_CLONED)).route(family: AF_BRIDGE)
        #expect(otherRoutes.parsed.isEmpty)
    }

    @Test func whatIsDeletedIsGone() {
        let route = LinkSnapshot.DefaultRoute(family: .ipv4, linkIndex: 2, gateway: "192.0.2.1")
        #expect(NetlinkBytes().link(3, flags: 0, isGone: true).parsed == [.linkGone(index: 3)])
        #expect(NetlinkBytes().address(2, [192, 0, 2, 7], isGone: true).parsed == [.addressGone(link: 2, text: "192.0.2.7/24")])
        #expect(NetlinkBytes().route(isGone: true).parsed == [.defaultRouteGone(route)])
    }

    /// Messages of Linux 6.18 about a veth with two addresses and a default route.
    @Test func aRecordedDumpIsRead() {
        let bytes = NetlinkBytes.hexadecimal(
            "50000000140002000100000000000000021880000300000008000100c000020708000200c000020709000300776972650000000008"
                + "0008008000000014000600ffffffffffffffffd0400900d0400900"
                + "500000001400020001000000000000000a40c0fd0200000014000100fe8000000000000094438cfffeb64b2414000600fffffff"
                + "fffffffffd0400900d040090008000800c000000005000b0003000000"
                + "480000001400020001000000000000000a408200030000001400010020010db800000000000000000000000714000600fffffff"
                + "fffffffffd1400900d14009000800080082000000"
                + "3c00000018000200010000000000000002000000fe0300010000000008000f00fe000000080006006400000008000500c000020"
                + "10800040003000000"
                + "3c00000018000200010000000000000002180000fe02fd010000000008000f00fe00000008000100c000020008000700c000020"
                + "70800040003000000")
        #expect(
            bytes.parsed == [
                .address(link: 3, text: "192.0.2.7/24"), .address(link: 3, text: "2001:db8::7/64"),
                .defaultRoute(.init(family: .ipv4, linkIndex: 3, gateway: "192.0.2.1", metric: 100)),
            ])
    }

    @Test func endsErrorsAndInterruptionsAreReported() {
        let none = NetlinkBytes.number(Int32(0))
        let errors = NetlinkBytes().message(NLMSG_ERROR, none).message(NLMSG_ERROR, NetlinkBytes.number(Int32(-16)))
            .message(NLMSG_ERROR, NetlinkBytes.number(Int32.min))
        let bytes = errors.link(2, flags: Self.running).message(NLMSG_DONE, flags: NLM_F_DUMP_INTR, none).message(NLMSG_NOOP, none)
        #expect(
            bytes.parsed == [
                .failed(errno: EBUSY), .failed(errno: .min), .link(index: 2, name: "wire", isRunning: true), .interrupted, .done,
            ])
    }

    @Test(arguments: [0, 1, 15, 17, 1000, Int(UInt32.max)])
    func aLengthThatLiesEndsTheReading(claimed: Int) {
        let bytes = NetlinkBytes().link(2, flags: Self.running).message(RTM_NEWLINK, [1, 2, 3], claimedCount: claimed)
        #expect(bytes.parsed == [.link(index: 2, name: "wire", isRunning: true)])
    }

    @Test func anAttributeThatDoesNotFitIsLeftOut() {
        for length: UInt16 in [0, 3, 200, .max] {
            let head = [UInt8(AF_INET), 24, 0, 0] + NetlinkBytes.number(Int32(2))
            let body = head + NetlinkBytes.number(length) + NetlinkBytes.number(UInt16(IFA_ADDRESS)) + [192, 0, 2, 7]
            #expect(NetlinkBytes().message(RTM_NEWADDR, body).parsed.isEmpty)
        }
        #expect(NetlinkBytes().address(2, [192, 0, 2]).parsed.isEmpty)
    }

    /// Parsing ends for all bytes, and a cut message is never taken for a whole one.
    @Test func noBytesMakeItCrash() {
        let seed = UInt64.random(in: .min ... .max)
        print("seed of noBytesMakeItCrash: \(seed)")
        var generator = SeededGenerator(seed: seed)
        let whole = NetlinkBytes().link(3, flags: Self.running).address(3, Self.sixth).route(metric: 5)
            .message(NLMSG_DONE, NetlinkBytes.number(Int32(0)))
        for count in 0..<whole.bytes.count {
            #expect(NetlinkBytes(bytes: Array(whole.bytes[..<count])).parsed.count < whole.parsed.count)
        }
        for _ in 0..<20_000 {
            var bytes = whole.bytes
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            var table = NetlinkTable()
            for message in NetlinkBytes(bytes: bytes).parsed { table.take(message) }
            _ = table.snapshot
        }
    }
}
