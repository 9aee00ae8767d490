import LayoverCore

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
