import CLinux
import Glibc

@testable import LayoverMonitor

/// Datagrams as the kernel would send them (netlink(7), rtnetlink(7)).
struct NetlinkBytes {
    var bytes: [UInt8] = []

    static func number(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }

    static func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
        let raw = number(UInt16(4 + value.count)) + number(type) + value
        return raw + [UInt8](repeating: 0, count: (4 - raw.count % 4) % 4)
    }

    /// - Parameter claimedCount: The length in the header where it is to lie.
    func message(
        _ type: some BinaryInteger, flags: Int32 = 0, _ body: [UInt8], claimedCount: Int? = nil
    ) -> NetlinkBytes {
        var raw = Self.number(UInt32(claimedCount ?? 16 + body.count))
        raw += Self.number(UInt16(type)) + Self.number(UInt16(flags)) + Self.number(UInt32(7)) + Self.number(UInt32(0))
        raw += body
        raw += [UInt8](repeating: 0, count: (4 - raw.count % 4) % 4)
        return NetlinkBytes(bytes: bytes + raw)
    }

    func link(
        _ index: Int32, _ name: String = "wire", flags: UInt32, isGone: Bool = false, family: UInt8 = 0
    ) -> NetlinkBytes {
        let head = [family, 0] + Self.number(UInt16(1)) + Self.number(index) + Self.number(flags) + Self.number(UInt32(0))
        return message(
            isGone ? RTM_DELLINK : RTM_NEWLINK, head + Self.attribute(UInt16(IFLA_IFNAME), Array(name.utf8) + [0]))
    }

    func address(
        _ index: Int32, _ address: [UInt8], prefix: UInt8 = 24, flags: UInt8 = 0, scope: UInt8 = 0,
        peer: [UInt8]? = nil, longFlags: UInt32? = nil, isGone: Bool = false
    ) -> NetlinkBytes {
        let family = UInt8(address.count == 4 ? AF_INET : AF_INET6)
        var body = [family, prefix, flags, scope] + Self.number(index)
        if let peer {
            body += Self.attribute(UInt16(IFA_ADDRESS), peer) + Self.attribute(UInt16(IFA_LOCAL), address)
        } else {
            body += Self.attribute(UInt16(IFA_ADDRESS), address)
        }
        if let longFlags { body += Self.attribute(UInt16(IFA_FLAGS), Self.number(longFlags)) }
        return message(isGone ? RTM_DELADDR : RTM_NEWADDR, body)
    }

    func route(
        family: Int32 = AF_INET, prefix: UInt8 = 0, destination: [UInt8]? = nil, kind: UInt8 = 1,
        flags: UInt32 = 0, link: UInt32? = 2, gateway: [UInt8]? = [192, 0, 2, 1], metric: UInt32? = nil,
        table: UInt8 = 254, longTable: UInt32? = nil, isGone: Bool = false
    ) -> NetlinkBytes {
        var body = [UInt8(family), prefix, 0, 0, table, 3, 0, kind] + Self.number(flags)
        if let destination { body += Self.attribute(1, destination) }
        if let link { body += Self.attribute(4, Self.number(link)) }
        if let gateway { body += Self.attribute(5, gateway) }
        if let metric { body += Self.attribute(6, Self.number(metric)) }
        if let longTable { body += Self.attribute(15, Self.number(longTable)) }
        return message(isGone ? RTM_DELROUTE : RTM_NEWROUTE, body)
    }

    var parsed: [NetlinkMessage] { bytes.withUnsafeBytes { NetlinkMessage.parse($0) } }

    static func hexadecimal(_ text: String) -> NetlinkBytes {
        var bytes: [UInt8] = []
        var rest = text[...]
        while let byte = UInt8(rest.prefix(2), radix: 16) {
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return NetlinkBytes(bytes: bytes)
    }
}
