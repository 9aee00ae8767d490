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
