package import LayoverCore

/// The newest events, one copy for all watchers.
///
/// A watcher is a position in the log and takes later events when it is ready. So a thousand slow watchers need no more
/// memory than one, and the log never waits for a watcher. A watcher whose position is older than the oldest kept event has
/// lost events: it gets `gap` and has to read everything again.
struct EventLog {
    /// Bytes of the events that are kept, for watchers that are slow or were away. Default: 4 MiB, which is some
    /// thousand events of entries.
    private let byteCountMax: Int
    /// Bytes of the events that one watcher is handed at once. Default: 64 KiB.
    private static let portionByteCountMax = 64 << 10
    /// Places below the oldest event that are freed together. Default: 1024, so that an event costs the move of some ten others.
    private static let emptyPlaceCountMax = 1024

    private struct Kept {
        var event: EngineEvent
        var byteCount: Int
    }

    private struct Watcher {
        /// Not nil while it waits for the next event.
        var waiting: CheckedContinuation<Void, Never>?
        /// The last event that it gets; nil while the watch has no end.
        var lastNumber: UInt64?
    }

    private(set) var lastNumber: UInt64 = 0
    /// In order, without a gap. Nil below `oldest`.
    private var kept: [Kept?] = []
    private var oldest = 0
    private(set) var byteCount = 0
    private var watchers: [Int: Watcher] = [:]
    private var nextWatcher = 0

    init(byteCountMax: Int = 4 << 20) { self.byteCountMax = byteCountMax }

    mutating func append(_ content: EngineEvent.Content) {
        lastNumber += 1
        let event = Kept(event: EngineEvent(number: lastNumber, content: content), byteCount: content.byteCount)
        kept.append(event)
        byteCount += event.byteCount
        while byteCount > byteCountMax, oldest < kept.count - 1 {
            byteCount -= kept[oldest]?.byteCount ?? 0
            kept[oldest] = nil
            oldest += 1
        }
        // Not at half of the array, whose room would then be twice that of the events.
        if oldest >= Self.emptyPlaceCountMax {
            kept.removeFirst(oldest)
            oldest = 0
        }
        for number in watchers.keys { wake(number) }
    }

    /// Whether all events after a number are kept. A number from another run is refused where it can be told.
    func knows(after number: UInt64) -> Bool {
        number <= lastNumber && lastNumber - number <= UInt64(kept.count - oldest)
    }

    /// Some of the events after a number, oldest first; nil when some of them are not kept any more.
    func events(after number: UInt64) -> [EngineEvent]? {
        guard knows(after: number) else { return nil }
        var events: [EngineEvent] = []
        var byteCount = 0
        for event in kept.suffix(Int(lastNumber - number)).lazy.compactMap(\.self) {
            if !events.isEmpty, byteCount + event.byteCount > Self.portionByteCountMax { break }
            events.append(event.event)
            byteCount += event.byteCount
        }
        return events
    }

    // MARK: Watchers

    mutating func watch() -> Int {
        nextWatcher += 1
        watchers[nextWatcher] = Watcher()
        return nextWatcher
    }

    mutating func unwatch(_ number: Int) {
        wake(number)
        watchers[number] = nil
    }

    /// All current watchers get the events so far, and then the end.
    mutating func finish() {
        for number in watchers.keys {
            watchers[number]?.lastNumber = lastNumber
            wake(number)
        }
    }

    /// The next delivery for a watcher; nil: it has to wait.
    func turn(of watcher: Int, after number: UInt64) -> EventTurn? {
        guard let watcher = watchers[watcher] else { return .ended }
        if let last = watcher.lastNumber, number >= last { return .ended }
        guard let events = events(after: number) else { return .lost }
        let wanted = events.filter { $0.number <= watcher.lastNumber ?? .max }
        return wanted.isEmpty ? nil : .events(wanted)
    }

    /// - Parameter continuation: Resumed at the next event, or when the watch ends.
    mutating func wait(_ watcher: Int, _ continuation: CheckedContinuation<Void, Never>) {
        wake(watcher)
        guard watchers[watcher] != nil else { return continuation.resume() }
        watchers[watcher]?.waiting = continuation
    }

    private mutating func wake(_ watcher: Int) {
        guard let waiting = watchers[watcher]?.waiting else { return }
        watchers[watcher]?.waiting = nil
        waiting.resume()
    }
}

/// One event, for all watchers.
package struct EngineEvent: Sendable {
    package enum Content: Sendable {
        case entry(EntryEventKind, Entry)
        case incident(IncidentEventKind, Incident)
        case reachability(ReachabilityView)
        case reloaded(ReloadReport)
        /// All that are under way.
        case rehearsals([Rehearsal])
    }

    /// From 1, in order, without a gap, since the start of the process.
    package var number: UInt64
    package var content: Content

    /// The name on the event stream.
    package var name: String {
        switch content {
        case .entry(let kind, _): kind.rawValue
        case .incident(let kind, _): kind.rawValue
        case .reachability: "reachability.changed"
        case .reloaded: "config.reloaded"
        case .rehearsals: "rehearsal.changed"
        }
    }
}

/// A delivery to a watcher.
package enum EventTurn: Sendable {
    /// Never empty.
    case events([EngineEvent])
    /// Events in between are not kept any more.
    case lost
    /// The watch has ended.
    case ended
}

extension EngineEvent.Content {
    /// An estimate of its bytes in memory.
    fileprivate var byteCount: Int {
        switch self {
        case .entry(_, let entry): entry.memoryByteCount
        case .incident: 512
        case .reachability(let view):
            512 + (view.reason?.utf8.count ?? 0) + (view.detail?.utf8.count ?? 0)
                + (view.links?.links.count ?? 0) * 256 + (view.links?.defaultRoutes.count ?? 0) * 128
        case .reloaded(let report):
            256 + (report.appliedKeys + report.restartKeys + report.errors).reduce(0) { $0 + $1.utf8.count + 16 }
        case .rehearsals(let rehearsals): 64 + rehearsals.count * 512
        }
    }
}
