import Glibc
import LayoverCore
import LayoverEngine
import LayoverText

/// The state of the whole process.
package struct StatusDocument: Codable, Sendable {
    package struct Limit: Codable, Sendable {
        package var max: Int
        @OrNull package var used: Int?
    }

    /// Tunnels (CONNECT) and upgraded connections.
    package struct Tunnels: Codable, Sendable {
        package var open: Int
        /// Open ones through which no byte passes for now, because of the mode or of a rehearsal.
        package var frozen: Int
    }

    /// Totals since the start.
    package struct Totals: Codable, Sendable {
        package var requests: Int
        package var parked: Int
        package var replays: Int
        package var refused: Int
        /// Tickets that were accepted.
        package var accepted: Int
        package var delivered: Int
        package var cancelled: Int
        package var expired: Int
        package var failed: Int
        /// Incidents that were opened.
        package var incidents: Int
    }

    /// The store of tickets.
    package struct Store: Codable, Sendable {
        /// `ok`, or the kind of the last failure since which nothing was stored: `full`, `readOnly`, `io`, ….
        package var condition: String
        /// That failure as a sentence.
        @OrNull package var message: String?
        /// Of the database and its log; bodies count as `spoolTotal` of the limits.
        package var bytes: Int
        /// Tickets whose newest change is not on disk; saving is repeated.
        package var unsaved: Int
        /// For how long ended tickets are kept, in seconds.
        @OrNull package var history: Double?
    }

    /// Open connections to origins and parent proxies, with those of tunnels.
    package struct Upstream: Codable, Sendable {
        package var connections: Int
        /// Requests under way on them.
        package var streams: Int
    }

    package var version: String
    package var startedAt: String
    /// In seconds.
    package var uptime: Double
    package var draining: Bool
    /// URLs of the proxy.
    package var proxy: [String]
    /// Whether clients of the proxy have to name a user.
    package var asksForUser: Bool
    package var reachability: ReachabilityDocument
    package var counts: [String: Int]
    package var tunnels: Tunnels
    /// Incidents that are open.
    package var incidents: Int
    /// Outages that are played.
    package var rehearsals: Int
    /// Open connections to servers.
    package var upstream: Upstream
    /// Origins whose gate is shut.
    package var shutOrigins: [String]
    package var limits: [String: Limit]
    /// Null where no tickets are kept in this run.
    @OrNull package var store: Store?
    /// Null where nothing is kept for reading offline.
    @OrNull package var cache: CacheUsageDocument?
    /// Null where nothing is intercepted.
    @OrNull package var interception: InterceptionUse?
    package var totals: Totals
    /// The error of the last reload that failed; the configuration before it is still in force.
    package var configurationErrors: [String]
    /// Null while the configuration is that of the start.
    @OrNull package var lastReload: ReloadDocument?
}

extension StatusDocument {
    init(_ status: EngineStatus, _ store: StoreStatus?, _ upstream: Upstream, sources: AdminSources, wall: WallTime) {
        self.init(
            version: LayoverVersion.current, startedAt: wall.text(of: sources.engine.startedAt),
            uptime: (status.uptime.inSeconds * 1000).rounded() / 1000, draining: sources.isDraining(),
            proxy: sources.proxyURLs(), asksForUser: sources.asksForUser(),
            reachability: ReachabilityDocument(status.reachability, wall: wall),
            counts: StateCounts.document(status.counts), tunnels: Tunnels(sources.metrics),
            incidents: status.incidentCount,
            rehearsals: status.rehearsalCount,
            upstream: upstream,
            shutOrigins: status.shutOrigins.map(\.description).sorted(),
            limits: LimitUse.all(status, sources: sources).reduce(into: [:]) {
                $0[$1.name] = Limit(max: $1.max, used: $1.used)
            },
            store: store.map(Store.init),
            cache: sources.cache().map { CacheUsageDocument($0.usage) },
            interception: sources.interception(),
            totals: Totals(
                status.totals, requests: sources.metrics.reduce(0) { $0 + $1.requestCount.current }),
            configurationErrors: status.lastReload?.errors ?? [],
            lastReload: status.lastReload.map { ReloadDocument($0, wall: wall) })
    }
}

extension StatusDocument.Upstream {
    init(_ sources: AdminSources) async {
        let count = await sources.connectionCounts().total
        let tunnels = sources.metrics.reduce(0) { $0 + $1.openTunnelCount.current }
        self.init(connections: count.open + tunnels, streams: count.busy)
    }
}

extension StatusDocument.Tunnels {
    init(_ metrics: [LoopMetrics]) {
        open = metrics.reduce(0) { $0 + $1.openTunnelCount.current }
        frozen = metrics.reduce(0) { $0 + $1.frozenTunnelCount.current }
    }
}

extension StatusDocument.Store {
    fileprivate init(_ store: StoreStatus) {
        self.init(
            condition: store.conditionName, message: store.condition.failure?.message,
            bytes: store.condition.byteCount, unsaved: store.unsavedCount, history: store.history?.inSeconds)
    }
}

extension StoreStatus {
    /// The failure that it suffers from, or `ok`.
    var conditionName: String { condition.failure?.kind.rawValue ?? "ok" }
}

extension StatusDocument.Totals {
    fileprivate init(_ totals: EngineTotals, requests: Int) {
        self.init(
            requests: requests, parked: totals.parkedCount, replays: totals.replayCount,
            refused: totals.refusedCount,
            accepted: totals.acceptedCount, delivered: totals.endedCounts[.delivered] ?? 0,
            cancelled: totals.endedCounts[.cancelled] ?? 0, expired: totals.endedCounts[.expired] ?? 0,
            failed: totals.endedCounts[.failed] ?? 0, incidents: totals.incidentCount)
    }
}

extension LimitUse {
    /// The limits of the engine and those of the sources.
    static func all(_ status: EngineStatus, sources: AdminSources) -> [LimitUse] {
        [
            LimitUse(
                name: "entries", max: status.limits.entryCountMax,
                used: status.counts.values.reduce(0, +) - status.unattendedCount),
            LimitUse(name: "heldClients", max: status.limits.heldClientCountMax, used: status.heldCount),
            LimitUse(name: "unattended", max: status.limits.unattendedCountMax, used: status.unattendedCount),
            LimitUse(name: "perOriginAttempts", max: status.limits.perOriginAttemptCountMax),
        ] + sources.limits()
    }
}

/// How many entries are in each live state of the contract.
enum StateCounts {
    /// In the contract's order.
    static let liveNames = EntryState.live.map(\.rawValue)

    static func document(_ counts: [EntryState: Int]) -> [String: Int] {
        Dictionary(uniqueKeysWithValues: EntryState.live.map { ($0.rawValue, counts[$0] ?? 0) })
    }
}

/// An instance. One that shares its tickets with nobody is a fleet of one: it has no partitions and no lease, and lags behind nobody.
package struct FleetDocument: Codable, Sendable {
    /// Another one in each run.
    private static let ownID = {
        var generator = SystemRandomNumberGenerator()
        return Hexadecimal.text(generator.next() as UInt64) + Hexadecimal.text(generator.next() as UInt64)
    }()

    package var id: String
    /// The name of its machine.
    package var name: String
    package var version: String
    /// `active` or `draining`.
    package var state: String
    package var partitions: [Int]
    @OrNull package var leaseAge: Double?
    package var lag: Double
    /// Clients that wait on their connections.
    package var heldClients: Int

    init(_ status: EngineStatus, isDraining: Bool) {
        id = Self.ownID
        name = Self.hostName
        version = LayoverVersion.current
        state = isDraining ? "draining" : "active"
        partitions = []
        _leaseAge = OrNull(wrappedValue: nil)
        lag = 0
        heldClients = status.heldCount
    }

    private static var hostName: String {
        var name = [CChar](repeating: 0, count: Int(HOST_NAME_MAX) + 1)
        guard gethostname(&name, name.count - 1) == 0 else { return "localhost" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
