import Foundation
import LayoverCache
import LayoverConfiguration
import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverMonitor
import LayoverOrigin
import LayoverProxy
import LayoverStore
import LayoverSystem
import LayoverTLS
import LayoverText
import LayoverUpstream
import Logging
import NIOCore
import NIOPosix
import Synchronization

/// The parts of a running proxy, made from the configuration and joined together.
struct ProxyParts: Sendable {
    let settings: Settings
    let engine: Engine
    let group: MultiThreadedEventLoopGroup
    let loops: [ProxyLoop]
    let addressGuard: OwnAddressGuard
    let upstream: RehearsedUpstream
    let spool: BodySpool
    let store: any PendingStore
    let storeOpening: StoreOpening
    let cache = OpenedCache()
    let authority = OpenedAuthority()
    let passwordChecks: PasswordChecks
    let connectionLimit: ConnectionLimit
    let unsentTotal: UnsentTotal
    let logger: Logger

    /// Makes everything that needs no port: threads, workers, machines.
    init(settings: Settings, logger: Logger) async throws {
        self.settings = settings
        self.logger = logger
        let clock = SystemClock()
        let engineLoop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
        let reachability = Reachability(
            mode: settings.reachability.mode, debounce: settings.reachability.debounce,
            hasProbe: settings.reachability.probe.url != nil,
            probeInterval: settings.reachability.probe.interval, now: clock.now())
        let spool = Self.makeSpool(settings)
        let storeOpening = StoreOpening(settings: settings, spool: spool, logger: logger)
        let store = try storeOpening.openAtStart()
        let naming = try (store as? SQLiteStore)?.naming ?? .random()
        let engine = Engine(
            eventLoop: engineLoop, clock: clock, limits: PendingLimits(settings.limits),
            reachability: reachability, store: store,
            naming: naming, logger: logger)
        let addressGuard = OwnAddressGuard()
        var options = UpstreamOptions(addressGuard: addressGuard)
        options.caFile = settings.tls.caFile
        options.responseLimits = FramingLimits(settings.limits)
        options.prepareTLS = { OwnAuthorities.refuse(in: $0) }
        options.readTLS = LibcurlTLS.read(from:into:)
        options.hasCloseNotify = LibcurlTLS.hasCloseNotify
        let libcurl = try LibcurlUpstream(options: options)
        let tls = try TLSClientContext(trustFile: libcurl.trustFile)
        let upstream = RehearsedUpstream(
            settings.proxy.upstream == .direct ? Self.direct(libcurl, tls, options) : libcurl, board: engine.rehearsalBoard, clock: clock)
        let group = MultiThreadedEventLoopGroup(
            numberOfThreads: settings.proxy.threads ?? System.coreCount)
        passwordChecks = try PasswordChecks()
        let connectionLimit = ConnectionLimit(countMax: settings.limits.connections)
        let unsentTotal = UnsentTotal(byteCountMax: settings.limits.unsentTotal)
        (self.connectionLimit, self.unsentTotal) = (connectionLimit, unsentTotal)
        loops = try await Self.makeLoops(
            settings, engine: engine, group: group, upstream: upstream, tls: tls, passwordChecks: passwordChecks
        ) {
            ProxyLoop(
                eventLoop: $0, engine: engine, configuration: $1, spool: spool, addressGuard: addressGuard,
                connectionLimit: connectionLimit,
                unsentTotal: unsentTotal, logger: logger)
        }
        self.spool = spool
        self.store = store
        self.storeOpening = storeOpening
        self.engine = engine
        self.group = group
        self.addressGuard = addressGuard
        self.upstream = upstream
    }

    private static func direct(_ libcurl: LibcurlUpstream, _ tls: TLSClientContext, _ options: UpstreamOptions) -> any Upstream {
        var direct = DirectOptions(addressGuard: options.addressGuard)
        direct.tls = tls
        direct.responseLimits = options.responseLimits
        return DirectUpstream(dialler: libcurl, options: direct)
    }

    private static func makeSpool(_ settings: Settings) -> BodySpool {
        let threads = NIOThreadPool(numberOfThreads: 2)
        threads.start()
        return BodySpool(
            folder: settings.store.spoolFolder, byteCountMax: settings.limits.spoolTotal, threads: threads)
    }

    private static func makeLoops(
        _ settings: Settings, engine: Engine, group: MultiThreadedEventLoopGroup, upstream: any Upstream, tls: TLSClientContext,
        passwordChecks: PasswordChecks, make: (any EventLoop, ProxyConfiguration) -> ProxyLoop
    ) async throws -> [ProxyLoop] {
        let installation = InstallationIdentity.load(folder: settings.store.folder)
        var configuration = ProxyConfiguration(settings, installation: installation)
        configuration.noTickets = engine.store?.isOpen == true ? nil : engine.store?.condition.failure
        configuration.keepsLanesWaiting = engine.store?.hasUnknownTickets == true
        var loops: [ProxyLoop] = []
        for eventLoop in group.makeIterator() {
            let loop = make(eventLoop, configuration)
            try await eventLoop.submit { try loop.start(with: upstream) }.get()
            try await loop.use(passwordChecks).get()
            try await loop.use(tls).get()
            if let format = AccessLog.Format(settings.log.access) {
                try await loop.logAccess(as: format) { lines, count in
                    LogLines.standardOutput.write(Array(lines.readableBytesView), lineCount: count)
                }.get()
            }
            await engine.register(loop)
            loops.append(loop)
        }
        return loops
    }

    /// Takes over the tickets of an earlier run. Before the first connection.
    func restore() async throws {
        // One that is opened later finds the routes of then.
        guard store.isOpen else { return await engine.begin(with: settings.routes) }
        try await engine.restore(from: store, bootID: StoreOpening.bootID, routes: settings.routes)
        await engine.keepHistory(for: settings.store.history)
    }

    /// Opens the cache for reading offline, if a policy uses it. If the disk does not allow it there is no cache, and
    /// a warning.
    func useCache(for settings: Settings) async {
        let isWanted = settings.routes.policies.values.contains { $0.cache == .staleIfError }
        guard isWanted, cache.isNeeded else { return }
        let folder = settings.store.folder.isEmpty ? "." : settings.store.folder
        var options = CacheOptions(path: folder + "/cache.sqlite", folder: folder + "/cache")
        options.refreshCountMax = settings.limits.cacheRefreshes
        do {
            let opened = try DiskResponseCache(options: options, logger: logger, now: Int(Date().timeIntervalSince1970))
            cache.set(opened)
            for loop in loops { try await loop.use(opened).get() }
        } catch {
            logger.warning("cannot open the response cache; responses are not cached", metadata: ["error": "\(error)"])
        }
    }

    /// Has servers on this machine found as soon as they listen again.
    func watchListeners() async { await engine.setListenerTable(KernelListeners()) }

    /// Starts probes, if the configuration has a URL for them.
    func startProbing() async throws {
        let probe = settings.reachability.probe
        guard let url = probe.url.flatMap({ URLComponents(string: $0.revealed) }), let host = url.host else { return }
        let origin = Origin(
            scheme: url.scheme == "https" ? .https : .http,
            host: host.trimmingCharacters(in: ["[", "]"]).lowercased(), port: url.port)
        let path = url.percentEncodedPath.isEmpty ? "/" : url.percentEncodedPath
        let prober = try UpstreamProber(
            origin: origin, target: path + (url.percentEncodedQuery.map { "?" + $0 } ?? ""),
            expectedStatus: probe.expectStatus, parentProxy: settings.routes.parentProxy(for: origin, route: nil),
            eventLoop: engine.eventLoop, upstream: upstream)
        await engine.setProber(prober)
    }

    /// Binds the proxy port.
    /// - Parameter activated: A socket that listens already; nil: the address `proxy.listen` is bound.
    func bind(activated: CInt? = nil) async throws -> ProxyServer {
        let address: ProxyServer.Address =
            switch settings.proxy.listen {
            case .tcp where activated != nil: .descriptor(activated ?? -1, isTCP: true)
            case .unix where activated != nil: .descriptor(activated ?? -1, isTCP: false)
            case .tcp(let host, let port): .tcp(host: host, port: port)
            case .unix(let path): .unix(path: path, mode: settings.proxy.socketMode.map(UInt16.init))
            }
        return try await ProxyServer.bind(to: address, group: group, loops: loops)
    }
}

extension AccessLog.Format {
    /// Nil: the setting is `off`.
    fileprivate init?(_ setting: LogSettings.Access) {
        switch setting {
        case .off: return nil
        case .combined: self = .combined
        case .json: self = .json
        }
    }
}

/// The cache, once it has been opened: a reload may turn it on.
final class OpenedCache: Sendable {
    private let opened = Mutex<(any ResponseCache)?>(nil)

    var current: (any ResponseCache)? { opened.withLock { $0 } }
    var isNeeded: Bool { current == nil }

    func set(_ cache: any ResponseCache) { opened.withLock { $0 = cache } }
}

/// Eight hexadecimal digits made once per installation: they distinguish this proxy's `Via` from that of any
/// other one of the same name, so that only a true loop is refused.
enum InstallationIdentity {
    /// Reads it from the folder of the store, or makes it. Where nothing can be written it lasts as long
    /// as the process.
    static func load(folder: String) -> String {
        let folder = folder.isEmpty ? "." : folder
        let path = folder + "/installation-id"
        if let content = try? PrivateFile.read(path) {
            let known = String(decoding: content.bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            if known.utf8.count == 8, known.allSatisfy(\.isHexDigit) { return known.lowercased() }
        }
        let made = Hexadecimal.text(UInt32.random(in: .min ... .max))
        try? PrivateFolder.make(folder)
        try? PrivateFile.write(Array((made + "\n").utf8), to: path)
        return made
    }
}
