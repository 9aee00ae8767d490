import CLinux
import Glibc
import LayoverCore

extension NetlinkMessage {
    // struct ifinfomsg: family, pad, type, index, flags, change.
    static func link(_ body: NetlinkReader, isGone: Bool) -> NetlinkMessage? {
        // Another family speaks of a part of the link only: a link that leaves a bridge is "deleted" there.
        guard body.load(0, as: UInt8.self) == UInt8(AF_UNSPEC), let index = body.load(4, as: Int32.self),
            let flags = body.load(8, as: UInt32.self)
        else { return nil }
        if isGone { return .linkGone(index: index) }
        let name = body.attributes(from: 16)[UInt16(IFLA_IFNAME)]?.text ?? ""
        // Carrier, and nothing that it still waits for (802.1X). IFF_RUNNING says the same in the end,
        // but the kernel may take up to a second to say so (its link watch gathers changes).
        let wanted = UInt32(IFF_UP.rawValue | IFF_LOWER_UP.rawValue)
        let unwanted = UInt32(IFF_LOOPBACK.rawValue | IFF_DORMANT.rawValue)
        let isRunning = flags & (wanted | unwanted) == wanted
        return .link(index: index, name: name, isRunning: isRunning)
    }

    // struct ifaddrmsg: family, prefix length, flags, scope, index.
    static func address(_ body: NetlinkReader, isGone: Bool) -> NetlinkMessage? {
        guard let family = body.load(0, as: UInt8.self), let prefix = body.load(1, as: UInt8.self),
            let flags = body.load(2, as: UInt8.self), let scope = body.load(3, as: UInt8.self),
            let index = body.load(4, as: Int32.self), scope < UInt8(RT_SCOPE_LINK.rawValue)
        else { return nil }
        let attributes = body.attributes(from: 8)
        // IFA_LOCAL is our end of a point-to-point link; IPv6 has only IFA_ADDRESS.
        let value =
            attributes[UInt16(IFA_LOCAL)] ?? attributes[UInt16(IFA_ADDRESS)]
        guard let value, let text = text(of: value, family: family) else { return nil }
        let allFlags = attributes[UInt16(IFA_FLAGS)]?.load(0, as: UInt32.self) ?? UInt32(flags)
        let unusable = UInt32(IFA_F_TENTATIVE) | UInt32(IFA_F_DADFAILED)
        let named = "\(text)/\(prefix)"
        if isGone || allFlags & unusable != 0 { return .addressGone(link: index, text: named) }
        return .address(link: index, text: named)
    }

    // struct rtmsg: family, dst_len, src_len, tos, table, protocol, scope, type, flags.
    static func route(_ body: NetlinkReader) -> LinkSnapshot.DefaultRoute? {
        guard let family = body.load(0, as: UInt8.self), body.load(1, as: UInt8.self) == 0,
            let table = body.load(4, as: UInt8.self), let kind = body.load(7, as: UInt8.self),
            kind == UInt8(RTN_UNICAST), let flags = body.load(8, as: UInt32.self),
            // A copy for one destination, not a route.
            flags & UInt32(RTM_F_CLONED) == 0
        else { return nil }
        let attributes = body.attributes(from: 12)
        guard attributes[UInt16(RTA_DST.rawValue)] == nil else { return nil }
        let number = { (name: rtattr_type_t) in
            attributes[UInt16(name.rawValue)]?.load(0, as: UInt32.self)
        }
        guard Int32(family) == AF_INET || Int32(family) == AF_INET6 else { return nil }
        return LinkSnapshot.DefaultRoute(
            family: Int32(family) == AF_INET ? .ipv4 : .ipv6,
            linkIndex: Int32(truncatingIfNeeded: number(RTA_OIF) ?? 0),
            gateway: attributes[UInt16(RTA_GATEWAY.rawValue)].flatMap { text(of: $0, family: family) },
            metric: number(RTA_PRIORITY) ?? 0, table: number(RTA_TABLE) ?? UInt32(table))
    }

    private static func text(of value: NetlinkReader, family: UInt8) -> String? {
        let size = Int32(family) == AF_INET ? 4 : Int32(family) == AF_INET6 ? 16 : 0
        guard size > 0, value.count >= size else { return nil }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let bytes = value.array
        guard inet_ntop(Int32(family), bytes, &text, socklen_t(text.count)) != nil else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
