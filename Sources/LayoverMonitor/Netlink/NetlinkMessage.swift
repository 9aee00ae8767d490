import CLinux
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
