import CLinux
import LayoverCore

/// Keeps a whole picture of links, addresses and default routes, and says when it may have changed.
///
/// Whenever the kernel tells of something that the picture does not show, or had more to tell than the
/// socket could hold, the whole picture is asked for anew. Putting single messages together would not
/// do: the kernel takes away the IPv4 routes of a link that goes down, and a route that is replaced,
/// without a word.
struct LinkWatch {
    private let events: NetlinkSocket
    private let dump = NetlinkDump()
    /// Nil until the kernel has answered, and again when it did not.
    private var table: NetlinkTable?

    var descriptor: CInt { events.descriptor }

    /// Whether the picture is missing, so that `read` should be called again in a while.
    var isBlind: Bool { table == nil }

    /// - Parameter events: Heard from now on; the first `read` gives the first picture.
    init(events: NetlinkSocket) { self.events = events }

    /// Reads all events that are there.
    ///
    /// - Returns: A new picture; nil when there is no reason to look, or no response.
    mutating func read() -> LinkSnapshot? {
        // All events first: what changes from now on is in the dump, or comes as another event, or both.
        guard drain() || table == nil else { return nil }
        table = dump.picture()
        return table?.snapshot
    }

    /// - Returns: Whether any of it was news.
    private func drain() -> Bool {
        var hasNews = false
        while true {
            switch events.read() {
            case .nothing: return hasNews
            case .overflow: hasNews = true
            case .messages(let messages):
                hasNews = hasNews || messages.contains { table?.differs(by: $0) ?? true }
            }
        }
    }
}

/// What the kernel has told so far of links, addresses and default routes.
struct NetlinkTable: Equatable {
    private struct Link: Equatable {
        var name = ""
        var isRunning = false
        var addresses: Set<String> = []
    }

    private var links: [Int32: Link] = [:]
    private var routes: Set<LinkSnapshot.DefaultRoute> = []

    mutating func take(_ message: NetlinkMessage) {
        switch message {
        case .link(let index, let name, let isRunning):
            links[index, default: Link()].name = name
            links[index, default: Link()].isRunning = isRunning
        case .linkGone(let index):
            links[index] = nil
            routes = routes.filter { $0.linkIndex != index }
        case .address(let link, let text):
            links[link, default: Link()].addresses.insert(text)
        case .addressGone(let link, let text):
            links[link]?.addresses.remove(text)
        case .defaultRoute(let route):
            routes.insert(route)
        case .defaultRouteGone(let route):
            routes.remove(route)
        case .interrupted, .done, .failed:
            break
        }
    }

    /// Whether the message says something that the table does not.
    func differs(by message: NetlinkMessage) -> Bool {
        var changed = self
        changed.take(message)
        return changed != self
    }

    var snapshot: LinkSnapshot {
        LinkSnapshot(
            links: links.filter(\.value.isRunning).map {
                .init(index: $0.key, name: $0.value.name, addresses: Array($0.value.addresses))
            },
            defaultRoutes: Array(routes))
    }
}

/// Asks the kernel for the whole picture of links, addresses and default routes.
struct NetlinkDump {
    /// What came of one table.
    private enum Outcome {
        case whole, interrupted, unanswered
    }

    private static let tables = [RTM_GETLINK, RTM_GETADDR, RTM_GETROUTE].map { UInt16($0) }

    /// A dump that is interrupted this often in a row is taken as it is: things change faster than they
    /// can be told, and the next change brings the next dump. Chosen: some milliseconds in all.
    private static let attemptCountMax = 10

    /// - Returns: Nil when the kernel does not answer or may not be asked.
    func picture() -> NetlinkTable? {
        // A socket of its own: nothing of an earlier dump can be mistaken for this one.
        guard let socket = try? NetlinkSocket.forDumps() else { return nil }
        for attempt in 1...Self.attemptCountMax {
            var picture = NetlinkTable()
            var isInterrupted = false
            for table in Self.tables {
                switch Self.read(table, from: socket, into: &picture) {
                case .whole: break
                case .interrupted: isInterrupted = true
                case .unanswered: return nil
                }
            }
            if !isInterrupted || attempt == Self.attemptCountMax { return picture }
        }
        return nil
    }

    private static func read(
        _ table: UInt16, from socket: NetlinkSocket, into picture: inout NetlinkTable
    ) -> Outcome {
        guard socket.requestDump(of: table) else { return .unanswered }
        var isInterrupted = false
        while case .messages(let messages) = socket.read() {
            for message in messages {
                switch message {
                // A table that cannot be had is left out (a kernel without IPv6, say).
                case .done, .failed: return isInterrupted ? .interrupted : .whole
                case .interrupted: isInterrupted = true
                default: picture.take(message)
                }
            }
        }
        return .unanswered
    }
}
