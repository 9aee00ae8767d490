package import LayoverCore
import Logging

/// What people are told: events, counts, and lines in the log. A line at `info` or above is written once for each incident, not for each
/// request. A command by a client and a request that cannot become a ticket have a line each.
struct Reporter {
    private let logger: Logger
    private let naming: EntryNaming
    private(set) var totals = EngineTotals()
    private var series = ActivitySeries()
    var events = EventLog()
    /// Is told of each change of an incident, and of limits that are reached. Nil: not yet set.
    var notificationReceiver: (@Sendable (NotificationFact) -> Void)?
    private(set) var lastReload: ReloadReport?
    /// Whether a report named entries that have yet to find their routes: then the log says when there are none.
    private var owesEndOfRerouting = false
    /// When the log last told of a limit or of an origin.
    private var toldAt: [String: Timestamp] = [:]

    init(_ logger: Logger, naming: EntryNaming) {
        self.logger = logger
        self.naming = naming
    }

    func activity(now: Timestamp) -> [ActivitySeries.Bucket] { series.all(now: now) }

    // MARK: Counts

    mutating func accepted() { totals.acceptedCount += 1 }

    mutating func storeFailed() { totals.storeFailureCount += 1 }

    mutating func delivered(_ reason: Verdict.DeliverReason) { totals.deliveredCounts[reason, default: 0] += 1 }

    mutating func commanded(_ command: EntryCommand, count: Int) { totals.commandCounts[command, default: 0] += count }

    mutating func commanded(_ command: EntryCommand, _ id: EntryID, by author: CommandAuthor) {
        commanded(command, count: 1)
        // The admin API logs its own commands, also those that are refused.
        guard author == .client else { return }
        logger.notice(
            "command", metadata: ["command": "\(command.rawValue)", "who": "\(author.who)", "exchange": "\(naming.shown(id))"])
    }

    // MARK: Reports

    /// - Parameter liveCount: The number of live entries now.
    mutating func report(_ kind: EntryEventKind, _ entry: Entry, liveCount: Int, now: Timestamp) {
        totals.count(kind, entry)
        series.count(kind, entry.state, live: liveCount, now: now)
        events.append(.entry(kind, entry))
        logger.debug(
            "entry",
            metadata: [
                "event": "\(kind.rawValue)", "exchange": "\(naming.shown(entry.id))", "origin": "\(entry.origin)",
                "state": "\(entry.state)",
            ])
    }

    mutating func report(_ kind: IncidentEventKind, _ incident: Incident, now: Timestamp) {
        if kind == .opened { totals.incidentCount += 1 }
        events.append(.incident(kind, incident))
        notificationReceiver?(.incident(kind, incident))
        let level: Logger.Level =
            switch kind {
            case .opened: .warning
            case .updated: .debug
            case .closed: .info
            }
        logger.log(level: level, "\(incident.sentence(kind))", metadata: metadata(of: incident, now: now))
    }

    private func metadata(of incident: Incident, now: Timestamp) -> Logger.Metadata {
        var metadata: Logger.Metadata = ["incident": "\(incident.id)", "kind": "\(incident.kind)", "waiting": "\(incident.waiting)"]
        switch incident.scope {
        case .origin(let origin): metadata["origin"] = "\(origin)"
        case .parentProxy(let gate): metadata["parentProxy"] = "\(gate.authority)"
        case .network: break
        }
        if let cause = incident.cause { metadata["cause"] = "\(cause.kind.rawValue) while \(cause.phase.rawValue)" }
        let age = now - incident.since
        if age >= .seconds(1) { metadata["age"] = "\(age.components.seconds)s" }
        return metadata
    }

    /// A request was not parked, or no ticket was made of it.
    mutating func refused(_ limit: String, _ value: Int, now: Timestamp) {
        totals.refusedCounts[limit, default: 0] += 1
        guard mayTell(limit, now: now) else { return }
        notificationReceiver?(.limit(limit, value))
        logger.warning("limit reached, requests are refused", metadata: ["limit": "\(limit)", "value": "\(value)"])
    }

    /// Its client had to be told: nothing waits, so there is no incident of it.
    mutating func mayHaveBeenApplied(_ origin: Origin, _ failure: Failure, now: Timestamp) {
        guard mayTell("mayHaveBeenApplied \(origin)", now: now) else { return }
        logger.warning(
            "a request may have been applied; its client was told and nothing is sent again",
            metadata: ["origin": "\(origin)", "cause": "\(failure.kind.rawValue) while \(failure.phase.rawValue)"])
    }

    /// The log has one line for each limit, and for each origin, in this time. Default: 1 minute.
    private static let toldInterval: Duration = .seconds(60)
    /// Topics that are remembered for that. Default: 1000.
    private static let toldCountMax = 1000

    private mutating func mayTell(_ topic: String, now: Timestamp) -> Bool {
        if let last = toldAt[topic], now - last < Self.toldInterval { return false }
        if toldAt.count >= Self.toldCountMax { toldAt = toldAt.filter { now - $0.value < Self.toldInterval } }
        // Rather no line than a log that is full of them.
        guard toldAt.count < Self.toldCountMax else { return false }
        toldAt[topic] = now
        return true
    }

    /// The client of an entry has left, and the entry ends, because of an obstacle.
    func notAdopted(_ id: EntryID, _ obstacle: AdoptionObstacle) {
        logger.notice(
            "request cancelled: its client disconnected and it cannot become a ticket",
            metadata: ["exchange": "\(naming.shown(id))", "reason": "\(obstacle.rawValue)"])
    }

    /// Tickets of an earlier run are in the set.
    func restored(_ count: Int) {
        if count > 0 { logger.info("resumed tickets of an earlier run", metadata: ["tickets": "\(count)"]) }
    }

    /// The configuration was read anew, or could not be.
    mutating func reloaded(_ report: ReloadReport) {
        lastReload = report
        if report.entriesLeft > 0 { owesEndOfRerouting = true }
        events.append(.reloaded(report))
    }

    /// Each entry has found its route after a reload.
    mutating func rerouted() {
        guard owesEndOfRerouting else { return }
        owesEndOfRerouting = false
        logger.notice("all requests that wait follow the reloaded configuration")
    }

    mutating func reachabilityChanged(_ view: ReachabilityView) {
        events.append(.reachability(view))
        logger.info("reachability changed", metadata: ["state": "\(view.state)", "mode": "\(view.mode)"])
    }

    /// The proxy is being stopped.
    func drainBegan(_ counts: [EntryState: Int], heldCount: Int) {
        logger.info(
            "draining: no new requests",
            metadata: [
                "waiting": "\(counts[.waiting] ?? 0)", "attempting": "\(counts[.attempting] ?? 0)", "held": "\(counts[.held] ?? 0)",
                "undecided": "\(counts[.undecided] ?? 0)", "clients": "\(heldCount)",
            ])
    }
}

/// What has happened to entries since the start, for the metrics.
package struct EngineTotals: Sendable {
    package var parkedCount = 0
    package var replayCount = 0
    /// Requests that were not parked, by the limit.
    package var refusedCounts: [String: Int] = [:]
    package var refusedCount: Int { refusedCounts.values.reduce(0, +) }
    /// Responses whose status is retried and that were delivered all the same, by the rule.
    package var deliveredCounts: [Verdict.DeliverReason: Int] = [:]
    /// Commands that were carried out, each for one entry.
    package var commandCounts: [EntryCommand: Int] = [:]
    /// How long entries were in the set, by their final state.
    package var lives: [EntryState: Histogram] = [:]
    /// Tickets that were accepted.
    package var acceptedCount = 0
    /// Groups of changes, or requests, that the disk would not take.
    package var storeFailureCount = 0
    /// Incidents that were opened.
    package var incidentCount = 0
    package var endedCounts: [EntryState: Int] = [:]

    mutating func count(_ kind: EntryEventKind, _ entry: Entry) {
        switch kind {
        case .parked: parkedCount += 1
        case .attempted: replayCount += 1
        case .changed: break
        case .ended:
            endedCounts[entry.state, default: 0] += 1
            if let endedAt = entry.endedAt { lives[entry.state, default: Histogram()].add((endedAt - entry.parkedAt).inSeconds) }
        }
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
