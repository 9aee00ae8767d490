package import LayoverCore
import Logging

/// What people are told: events, counts, and lines in the log. A line at `info` or above is written once for each incident, not for each
/// request.
extension Engine {
    func report(_ kind: EntryEventKind, _ id: EntryID) {
        guard let entry = entry(id) else { return }
        totals.count(kind, entry)
        series.count(kind, entry.state, live: pending.count, now: clock.now())
        // The start of an attempt is recorded when its connection is open; an acceptance is on disk already.
        if entry.ticket != nil, kind == .changed || kind == .ended { saves.touch(id) }
        events.append(.entry(kind, entry))
        logger.debug(
            "entry", metadata: [
                "event": "\(kind.rawValue)", "exchange": "\(naming.shown(id))", "origin": "\(entry.origin)",
                "state": "\(entry.state)",
            ])
    }

    func report(_ kind: IncidentEventKind, _ incident: Incident) {
        if kind == .opened { totals.incidentCount += 1 }
        events.append(.incident(kind, incident))
        notificationReceiver?(.incident(kind, incident))
        let level: Logger.Level =
            switch kind {
            case .opened: .warning
            case .updated: .debug
            case .closed: .info
            }
        logger.log(level: level, "\(incident.sentence(kind))", metadata: metadata(of: incident))
    }

    private func metadata(of incident: Incident) -> Logger.Metadata {
        var metadata: Logger.Metadata = ["incident": "\(incident.id)", "kind": "\(incident.kind)", "waiting": "\(incident.waiting)"]
        switch incident.scope {
        case .origin(let origin): metadata["origin"] = "\(origin)"
        case .parentProxy(let gate): metadata["parentProxy"] = "\(gate.authority)"
        case .network: break
        }
        if let cause = incident.cause { metadata["cause"] = "\(cause.kind.rawValue) while \(cause.phase.rawValue)" }
        let age = clock.now() - incident.since
        if age >= .seconds(1) { metadata["age"] = "\(age.components.seconds)s" }
        return metadata
    }

    /// A request was not parked, or no ticket was made of it.
    func refused(_ limit: String, _ value: Int) {
        totals.refusedCounts[limit, default: 0] += 1
        guard mayTell(limit) else { return }
        notificationReceiver?(.limit(limit, value))
        logger.warning("limit reached, requests are refused", metadata: ["limit": "\(limit)", "value": "\(value)"])
    }

    /// Its client had to be told: nothing waits, so there is no incident of it.
    func mayHaveBeenApplied(_ origin: Origin, _ failure: Failure) {
        guard mayTell("mayHaveBeenApplied \(origin)") else { return }
        logger.warning(
            "a request may have been applied; its client was told and nothing is sent again",
            metadata: ["origin": "\(origin)", "cause": "\(failure.kind.rawValue) while \(failure.phase.rawValue)"])
    }

    /// The log has one line for each limit, and for each origin, in this time. Default: 1 minute.
    private static let toldInterval: Duration = .seconds(60)
    /// Topics that are remembered for that. Default: 1000.
    private static let toldCountMax = 1000

    private func mayTell(_ topic: String) -> Bool {
        let now = clock.now()
        if let last = toldAt[topic], now - last < Self.toldInterval { return false }
        if toldAt.count >= Self.toldCountMax { toldAt = toldAt.filter { now - $0.value < Self.toldInterval } }
        // Rather no line than a log that is full of them.
        guard toldAt.count < Self.toldCountMax else { return false }
        toldAt[topic] = now
        return true
    }

    /// - Parameter receiver: Told of each change of an incident, and of limits that are reached. It must return at once.
    package func setNotificationReceiver(_ receiver: @escaping @Sendable (NotificationFact) -> Void) {
        notificationReceiver = receiver
    }

    /// The proxy is being stopped.
    func reportDrain() {
        let counts = pending.counts
        logger.info(
            "draining: no new requests",
            metadata: [
                "waiting": "\(counts[.waiting] ?? 0)", "attempting": "\(counts[.attempting] ?? 0)", "held": "\(counts[.held] ?? 0)",
                "undecided": "\(counts[.undecided] ?? 0)", "clients": "\(pending.heldCount)",
            ])
    }
}

/// What notifications are made of.
package enum NotificationFact: Sendable {
    case incident(IncidentEventKind, Incident)
    /// The name of the key and its value.
    case limit(String, Int)
}

extension Incident {
    /// What has happened, for the log.
    func sentence(_ event: IncidentEventKind) -> String {
        switch (event, kind) {
        case (.opened, .outage): "incident opened: requests wait"
        case (.opened, .decision): "incident opened: requests need a decision"
        case (.updated, _): "incident changed"
        case (.closed, .outage): "incident closed: no request waits any more"
        case (.closed, .decision): "incident closed: no request needs a decision any more"
        }
    }
}
