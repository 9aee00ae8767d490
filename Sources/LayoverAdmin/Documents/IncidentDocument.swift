import LayoverCore

/// An incident as programs see it. Names are the contract's.
package struct IncidentDocument: Codable, Sendable {
    package struct Cause: Codable, Sendable {
        package var kind: String
        package var phase: String
    }

    package var id: String
    /// `outage` or `decision`.
    package var kind: String
    /// `network`, `origin` or `parentProxy`.
    package var scope: String
    /// As a URL without a path; `host:port` where it was a tunnel, and of a parent proxy. Null for the network.
    @OrNull package var origin: String?
    /// Null before the first attempt.
    @OrNull package var cause: Cause?
    package var since: String
    package var waiting: Int
    @OrNull package var automaticLeft: Int?
    @OrNull package var automaticMax: Int?
    @OrNull package var nextAttemptAt: String?
    package var manualOnly: Bool
    package var actions: [String]
}

extension IncidentDocument {
    /// - Parameter mayCommand: Whether the caller may give commands; otherwise none are named.
    init(_ incident: Incident, wall: WallTime, mayCommand: Bool = true) {
        let (scope, origin): (String, String?) =
            switch incident.scope {
            case .network: ("network", nil)
            case .origin(let origin): ("origin", origin.description)
            case .parentProxy(let gate): ("parentProxy", gate.authority)
            }
        self.init(
            id: incident.id.description, kind: incident.kind.rawValue, scope: scope, origin: origin,
            cause: incident.cause.map { Cause(kind: $0.kind.rawValue, phase: $0.phase.rawValue) },
            since: wall.text(of: incident.since), waiting: incident.waiting,
            automaticLeft: incident.automaticLeft, automaticMax: incident.automaticMax,
            nextAttemptAt: incident.nextAttemptAt.map(wall.text(of:)), manualOnly: incident.manualOnly,
            actions: mayCommand ? incident.actions.map(\.rawValue) : [])
    }

    /// An incident that has closed, as in the event that closes it.
    var closed: IncidentDocument {
        var closed = self
        closed.waiting = 0
        closed.automaticLeft = 0
        closed.nextAttemptAt = nil
        closed.manualOnly = true
        closed.actions = []
        return closed
    }
}
