/// Puts the lines of an event stream together (WHATWG HTML, section Server-sent events), as far as Layover
/// writes them.
struct EventReader {
    /// One event of the stream.
    struct Event: Sendable, Equatable {
        var id = ""
        var name = "message"
        var data = ""
    }

    private var event = Event()
    private var hasData = false

    /// Takes a line and returns the event that ends with it.
    mutating func take(_ line: String) -> Event? {
        guard !line.isEmpty else {
            defer { (event, hasData) = (Event(), false) }
            return hasData ? event : nil
        }
        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let value = parts.count > 1 ? String(parts[1].hasPrefix(" ") ? parts[1].dropFirst() : parts[1]) : ""
        switch parts[0] {
        case "id": event.id = value
        case "event": event.name = value
        case "data":
            event.data += hasData ? "\n" + value : value
            hasData = true
        default: break
        }
        return nil
    }
}
