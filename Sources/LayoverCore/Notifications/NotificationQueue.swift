/// Decides which events become notifications, and when: at most one in an interval, and nothing that is over before anyone was told.
///
/// An incident is told when it opens, when it needs a decision, and when it closes. An event that comes while another one of the same
/// incident or limit waits takes its place.
package struct NotificationQueue: Sendable {
    /// An outage opens an incident for each origin: those that come within this time are told together. Default: 1 s.
    package static let gathering: Duration = .seconds(1)
    /// Events of one notification; those that are less urgent are counted and left out. Default: 100.
    package static let eventCountMax = 100

    /// Least time between two notifications. Default of `notify.interval`: 1 minute.
    package var interval: Duration
    /// Incidents of this origin are not told: the way to tell of them is what is away. Default: none.
    package var excludedOrigin: Origin?

    /// In the order in which they came.
    private var waiting: [NotificationEvent] = []
    /// Open incidents of which a notification was sent.
    private var told: Set<IncidentID> = []
    /// Open outages in which nothing goes on without a person.
    private var asking: Set<IncidentID> = []
    private var lastAt: Timestamp?

    package init(interval: Duration, excludedOrigin: Origin? = nil) {
        self.interval = interval
        self.excludedOrigin = excludedOrigin
    }

    // MARK: Facts

    package mutating func note(_ change: IncidentEventKind, of incident: Incident, now: Timestamp) {
        if let excludedOrigin, incident.scope == .origin(excludedOrigin) { return }
        switch change {
        case .opened: add(incident.kind == .decision ? .needsDecision : .opened, incident, now)
        case .updated: noteDecision(of: incident, now)
        case .closed: closed(incident, now)
        }
    }

    /// Requests are refused because of a limit.
    package mutating func noteLimit(_ name: String, value: Int, now: Timestamp) {
        add(NotificationEvent(.limitReached, .limit(name: name, value: value), at: now))
    }

    /// An outage comes to need a person when the attempts of its requests are used up.
    private mutating func noteDecision(of incident: Incident, _ now: Timestamp) {
        guard incident.kind == .outage else { return }
        guard incident.manualOnly, incident.waiting > 0 else {
            _ = asking.remove(incident.id)
            return
        }
        if asking.insert(incident.id).inserted { add(.needsDecision, incident, now) }
    }

    private mutating func closed(_ incident: Incident, _ now: Timestamp) {
        asking.remove(incident.id)
        waiting.removeAll { $0.topic == .incident(incident.id) }
        if told.remove(incident.id) != nil { add(.closed, incident, now) }
    }

    private mutating func add(_ kind: NotificationEvent.Kind, _ incident: Incident, _ now: Timestamp) {
        add(NotificationEvent(kind, .incident(incident), at: now))
    }

    private mutating func add(_ event: NotificationEvent) {
        waiting.removeAll { $0.topic == event.topic }
        waiting.append(event)
    }

    // MARK: Notifications

    /// When the next notification is to be sent; nil if no event waits.
    package var dueAt: Timestamp? {
        guard let first = waiting.first else { return nil }
        let gathered = first.at + Self.gathering
        return lastAt.map { max($0 + interval, gathered) } ?? gathered
    }

    /// The notification that is due, if one is. It is not told again.
    package mutating func take(now: Timestamp) -> Notification? {
        guard let dueAt, dueAt <= now else { return nil }
        let events = waiting.enumerated().sorted { ($0.element.kind, $0.offset) < ($1.element.kind, $1.offset) }.map(\.element)
        guard let first = events.first else { return nil }
        waiting = []
        lastAt = now
        for event in events {
            if case .incident(let incident) = event.subject, event.kind != .closed { told.insert(incident.id) }
        }
        let more = events.dropFirst().prefix(Self.eventCountMax - 1)
        return Notification(first: first, more: Array(more), omittedCount: events.count - 1 - more.count)
    }
}
