import CLinux
import Glibc
import LayoverCore

/// One message of rtnetlink(7), as far as reachability cares.
enum NetlinkMessage: Equatable {
    /// A link as it is now. `isRunning`: up, with carrier, not dormant, and no loopback.
    case link(index: Int32, name: String, isRunning: Bool)
    case linkGone(index: Int32)
    /// A link got an address whose scope is wider than that link.
    case address(link: Int32, text: String)
    case addressGone(link: Int32, text: String)
    case defaultRoute(LinkSnapshot.DefaultRoute)
    case defaultRouteGone(LinkSnapshot.DefaultRoute)
    /// Something changed while a dump was made: it is inconsistent and must be asked for again
    /// (`NLM_F_DUMP_INTR`). Its messages go on coming until its end.
    case interrupted
    /// The end of a dump.
    case done
    /// The kernel refuses what was asked for.
    case failed(errno: Int32)

    /// Reads all messages of one datagram. What is cut off or unknown is left out.
    static func parse(_ datagram: UnsafeRawBufferPointer) -> [NetlinkMessage] {
        let reader = NetlinkReader(datagram)
        var messages: [NetlinkMessage] = []
        var offset = 0
        // struct nlmsghdr: length, type, flags, sequence, port.
        while let length = reader.load(offset, as: UInt32.self),
            let type = reader.load(offset + 4, as: UInt16.self),
            let flags = reader.load(offset + 6, as: UInt16.self),
            length >= 16, let body = reader.part(from: offset + 16, count: Int(length) - 16)
        {
            if Int32(flags) & NLM_F_DUMP_INTR != 0 { messages.append(.interrupted) }
            if let message = parse(type: Int32(type), body) { messages.append(message) }
            offset += (Int(length) + 3) & ~3
        }
        return messages
    }

    private static func parse(type: Int32, _ body: NetlinkReader) -> NetlinkMessage? {
        switch type {
        case NLMSG_DONE: return .done
        case NLMSG_ERROR:
            // Zero acknowledges.
            guard let code = body.load(0, as: Int32.self), code != 0 else { return nil }
            return .failed(errno: 0 &- code)
        case Int32(RTM_NEWLINK): return link(body, isGone: false)
        case Int32(RTM_DELLINK): return link(body, isGone: true)
        case Int32(RTM_NEWADDR): return address(body, isGone: false)
        case Int32(RTM_DELADDR): return address(body, isGone: true)
        case Int32(RTM_NEWROUTE): return route(body).map { .defaultRoute($0) }
        case Int32(RTM_DELROUTE): return route(body).map { .defaultRouteGone($0) }
        default: return nil
        }
    }
}

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

/// Reads fixed-size numbers out of bytes from the kernel, with every length checked.
struct NetlinkReader {
    private let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var count: Int { bytes.count }

    /// A number in the machine's own byte order, as netlink(7) has it; nil past the end.
    func load<Number: FixedWidthInteger>(_ offset: Int, as type: Number.Type) -> Number? {
        guard offset >= 0, offset + MemoryLayout<Number>.size <= bytes.count else { return nil }
        return bytes.loadUnaligned(fromByteOffset: offset, as: type)
    }

    /// A part of the bytes; nil if it reaches past the end.
    func part(from offset: Int, count: Int) -> NetlinkReader? {
        guard offset >= 0, count >= 0, offset + count <= bytes.count else { return nil }
        return NetlinkReader(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]))
    }

    var array: [UInt8] { Array(bytes) }

    /// Bytes up to the first NUL, as text.
    var text: String { String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }

    /// The attributes (rtnetlink(7), `RTA_NEXT`) from an offset on. Stops at the first that does not fit.
    func attributes(from start: Int) -> [UInt16: NetlinkReader] {
        var found: [UInt16: NetlinkReader] = [:]
        var offset = start
        while let length = load(offset, as: UInt16.self), let type = load(offset + 2, as: UInt16.self),
            length >= 4, let value = part(from: offset + 4, count: Int(length) - 4)
        {
            // The two highest bits are flags (NLA_F_NESTED, NLA_F_NET_BYTEORDER).
            found[type & 0x3fff] = value
            offset += (Int(length) + 3) & ~3
        }
        return found
    }
}
