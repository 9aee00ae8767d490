package import LayoverCore
package import LayoverEngine
package import NIOCore

/// A notification as a webhook and a command get it.
package struct NotificationDocument: Codable, Sendable {
    package struct Limit: Codable, Sendable {
        /// The name of its key.
        package var name: String
        package var value: Int
    }

    package struct Event: Codable, Sendable {
        /// `incident.opened`, `incident.needsDecision`, `incident.closed` or `limit.reached`.
        package var type: String
        package var at: String
        /// One sentence for people.
        package var text: String
        /// Null for a limit.
        @OrNull package var incident: IncidentDocument?
        /// Null for an incident.
        @OrNull package var limit: Limit?
    }

    package var type: String
    package var at: String
    package var text: String
    @OrNull package var incident: IncidentDocument?
    @OrNull package var limit: Limit?
    /// The other events since the notification before.
    package var more: [Event]
    /// Events beyond those, which are told nowhere.
    package var omitted: Int
}

extension NotificationDocument {
    /// The notification as JSON.
    package static func json(_ notification: Notification, clock: any EngineClock) throws -> ByteBuffer {
        try JSONText.bytes(Self(notification, wall: WallTime(clock: clock)))
    }

    private init(_ notification: Notification, wall: WallTime) {
        let first = Event(notification.first, wall: wall)
        self.init(
            type: first.type, at: first.at, text: first.text, incident: first.incident, limit: first.limit,
            more: notification.more.map { Event($0, wall: wall) }, omitted: notification.omittedCount)
    }
}

extension NotificationDocument.Event {
    fileprivate init(_ event: NotificationEvent, wall: WallTime) {
        var document: IncidentDocument?
        var limit: NotificationDocument.Limit?
        switch event.subject {
        case .incident(let incident):
            let shown = IncidentDocument(incident, wall: wall)
            document = event.kind == .closed ? shown.closed : shown
        case .limit(let name, let value): limit = NotificationDocument.Limit(name: name, value: value)
        }
        self.init(
            type: event.kind.rawValue, at: wall.text(of: event.at), text: event.sentence, incident: document, limit: limit)
    }
}

extension NotificationEvent {
    /// The event as a sentence for people.
    package var sentence: String {
        switch subject {
        case .limit(let name, let value): "Requests are refused: the limit \(name) (\(value)) is reached."
        case .incident(let incident):
            switch kind {
            case .opened, .limitReached: "Requests\(incident.target) wait\(incident.reason)."
            case .needsDecision:
                "\(incident.count)\(incident.target) \(incident.waiting == 1 ? "needs" : "need") a decision\(incident.reason)."
            case .closed:
                incident.kind == .decision
                    ? "No request\(incident.target) needs a decision any more."
                    : "No request\(incident.target) waits any more; that took \((at - incident.since).roughText)."
            }
        }
    }
}

extension Duration {
    /// `12 s`, `4 min`, `2 h`.
    package var roughText: String {
        let seconds = components.seconds
        return switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7200: "\(seconds / 60) min"
        default: "\(seconds / 3600) h"
        }
    }
}

extension Incident {
    fileprivate var count: String { waiting == 1 ? "1 request" : "\(waiting) requests" }

    fileprivate var target: String {
        switch scope {
        case .network: ""
        case .origin(let origin): " to \(origin)"
        case .parentProxy(let gate): " through \(gate)"
        }
    }

    private var isOfNetwork: Bool { scope == .network }

    fileprivate var reason: String {
        if kind == .outage, isOfNetwork { return ": the network is away" }
        return cause.map { ": \($0.kind.rawValue) while \($0.phase.rawValue)" } ?? ""
    }
}
