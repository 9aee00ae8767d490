import ArgumentParser
import Foundation
import LayoverAdmin
import LayoverConfiguration
import LayoverCore
import LayoverEngine
import LayoverMonitor
import LayoverProxy
import Logging
import NIOCore
import ServiceLifecycle

/// The running proxy: starts its parts in order, logs where it listens, and stops them in order.
///
/// Nothing is half started: a port that is taken ends the process with one line before anything was
/// accepted.
struct Application {
    let loaded: LoadedConfiguration
    let source: ConfigurationSource
    let portFile: String?
    /// A socket that a service manager has bound; its address is in `loaded`.
    let activated: ActivatedSocket?

    private var settings: Settings { loaded.settings }

    func run() async throws {
        try checkPortFile()
        ProcessLimits.ignoreBrokenPipes()
        ProcessLimits.raiseDescriptorLimit()
        let threshold = LogThreshold(settings.log.level)
        let logger = makeLogger(threshold)
        logger.debug("starting", metadata: ["allocator": "\(Allocator.name)"])
        let parts = try await ProxyParts(settings: settings, logger: logger)
        let notifier = Notifier(engine: parts.engine, spool: parts.spool, logger: logger)
        await notifier.adopt(settings)
        let reloader = Reloader(loaded, from: source, parts: parts, notifier: notifier, level: threshold)
        let draining = DrainState()
        let stop = StopSignal()
        try await prepareTLS(parts)
        let server = try await bindProxy(parts)
        await notifier.begin()
        try await parts.restore()
        await parts.useCache(for: settings)
        parts.authority.distrust(for: settings)
        await parts.authority.prepare(for: settings, loops: parts.loops, logger: parts.logger)
        try await parts.startProbing()
        await parts.watchListeners()
        let address = proxyAddress(server)
        let instanceFolder = InstanceFolder.claim(instanceFolders)
        let instancePorts = InstancePortFile(folder: instanceFolder.path)
        let adminOptions = adminOptions(folder: instanceFolder.path, logger)
        let (ports, portFound) = AsyncStream<Int>.makeStream()
        let admin = AdminService(
            options: adminOptions,
            sources: adminSources(parts, reloader, draining: draining, stop: stop, server: server),
            logger: logger, onListening: { portFound.yield($0) })
        let proxy = ProxyService(
            server: server, engine: parts.engine, store: parts.store, cache: parts.cache,
            drainMax: settings.timeouts.drain,
            isDraining: draining, logger: logger)
        var running: [any Service] = [admin, monitor(parts), notifier, proxy]
        if settings.store.isOnDisk, let standIn = parts.store as? UnavailableStore {
            running.append(StoreReopening(parts: parts, standIn: standIn))
        }
        let manager = ServiceManagerLink(engine: parts.engine)
        if let manager { running.append(manager) }
        let services = ServiceGroup(
            configuration: .init(services: running.map { .init(service: $0) }, logger: logger))
        if source.command != nil {
            stop.listenToLauncher { await services.triggerGracefulShutdown() }
        } else {
            await stop.listen {
                if let manager {
                    await manager.reloading { _ = await reloader.reload() }
                } else {
                    _ = await reloader.reload()
                }
            } _: {
                await services.triggerGracefulShutdown()
            }
        }
        let announcing = Task {
            await Self.failure(of: services, onPort: ports) { port in
                try await begin(parts, server: server, address: address, adminPort: port, instancePorts: instancePorts)
                manager?.isReady()
            }
        }
        defer {
            announcing.cancel()
            instancePorts.remove()
            withExtendedLifetime(instanceFolder) {}
            // The launcher removes the folder too, unless it was killed.
            if let command = source.command { try? FileManager.default.removeItem(atPath: command.folder) }
        }
        try await services.run()
        announcing.cancel()
        if let failure = await announcing.value, !(failure is CancellationError) { throw failure }
    }

    private var instanceFolders: [String] {
        if let command = source.command { return [command.folder] }
        return [source.folders.makeInstanceFolder(store: settings.store.folder), settings.store.folder]
    }

    /// Ends the start if the port file cannot be written: a program that waits for the file would hang.
    private func checkPortFile() throws {
        guard let portFile, let failure = PortFile.failure(toWrite: portFile) else { return }
        StandardError.error(
            "--port-file: \(portFile) cannot be written: \(failure); name a file in a folder that exists and is yours"
        )
        throw ExitCode(1)
    }

    private func prepareTLS(_ parts: ProxyParts) async throws {
        do {
            try await ListenerIdentity(settings)?.use(on: parts.loops, logger: parts.logger)
        } catch {
            StandardError.error("proxy.tls: \(error)")
            throw ExitCode(1)
        }
    }

    private func bindProxy(_ parts: ProxyParts) async throws -> ProxyServer {
        do {
            let server = try await parts.bind(activated: activated?.descriptor)
            if case .tcp(let host, let port) = settings.proxy.listen {
                parts.addressGuard.add(host: host, port: server.localPort ?? port)
            }
            return server
        } catch {
            let reason =
                switch error {
                case let error as IOError: String(cString: strerror(error.errnoCode))
                case is SocketAddressError.UnknownHost: "the name of the host has no address"
                default: "\(error)"
                }
            StandardError.error(
                "proxy.listen: cannot listen on \(settings.proxy.listen): \(reason)")
            throw ExitCode(1)
        }
    }

    // MARK: Parts

    private func makeLogger(_ threshold: LogThreshold) -> Logger {
        let format: LineLogHandler.Format =
            switch settings.log.format {
            case .text: .text
            case .json: .json
            case .auto: isatty(STDERR_FILENO) == 1 ? .text : .json
            }
        LoggingSystem.bootstrap { _ in LineLogHandler(threshold: threshold, format: format) }
        return Logger(label: "layover")
    }

    private func monitor(_ parts: ProxyParts) -> ReachabilityMonitor {
        ReachabilityMonitor(logger: parts.logger) { parts.engine.post($0) }
    }

    private func adminOptions(folder: String, _ logger: Logger) -> AdminOptions {
        var options = AdminOptions()
        switch settings.admin.listen {
        case .tcp(let host, let port): (options.host, options.port) = (host, port)
        case .unix(let path): options.socketPath = path
        }
        options.token = settings.admin.token
        options.viewToken = settings.admin.viewToken
        options.allowedHosts = settings.admin.allowedHosts
        guard options.token == nil else { return options }
        options.bodyToken = AdminTokenFile.make(in: folder)
        if options.bodyToken == nil {
            logger.warning(
                "cannot write the admin token file; request and response bodies cannot be read",
                metadata: ["file": "\(AdminTokenFile.name)", "folder": "\(folder)"])
        }
        return options
    }

    private func adminSources(
        _ parts: ProxyParts, _ reloader: Reloader, draining: DrainState, stop: StopSignal, server: ProxyServer
    ) -> AdminSources {
        let address = proxyAddress(server)
        var sources = AdminSources(engine: parts.engine)
        sources.logger = parts.logger
        sources.spool = parts.spool
        sources.cache = { parts.cache.current }
        sources.metrics = parts.loops.map(\.metrics)
        sources.connectionCounts = { [loops = parts.loops] in
            var counts: [Origin: ConnectionCount] = [:]
            for loop in loops { counts.add((try? await loop.connectionCounts().get()) ?? [:]) }
            return counts
        }
        sources.proxyURLs = { [address] }
        if case .tcp(let host, _) = settings.proxy.listen {
            sources.isOnAllAddresses = ["0.0.0.0", "::"].contains(host)
        }
        sources.publicProxyURL = settings.proxy.publicURL.flatMap {
            $0.path.isEmpty ? "\($0.origin.scheme.rawValue)://\($0.origin.authority)" : nil
        }
        sources.asksForUser = { reloader.asksForUser }
        let (authority, clock) = (parts.authority, parts.engine.clock)
        sources.interception = {
            guard let fingerprint = authority.fingerprint,
                let report = authority.interceptions?.report(now: clock.now())
            else { return nil }
            return InterceptionUse(
                authority: fingerprint, connections: report.connectionCount,
                rejections: report.rejectionCount,
                fallbacks: report.fallbackCount, rejectingHosts: report.rejectingHosts)
        }
        sources.isDraining = { draining.isDraining }
        sources.droppedLogLineCount = {
            LogLines.standardError.droppedCount + LogLines.standardOutput.droppedCount
        }
        sources.drain = { stop.request() }
        let batch = BatchSending(server: server)
        sources.send = { await batch.send($0) }
        sources.reload = { await reloader.reload() }
        sources.configuration = { reloader.values }
        let (spoolTotal, spool, connections, unsent) = (settings.limits.spoolTotal, parts.spool, parts.connectionLimit, parts.unsentTotal)
        sources.limits = {
            [
                LimitUse(name: "spoolTotal", max: spoolTotal, used: spool.usedByteCount),
                LimitUse(name: "connections", max: connections.countMax, used: connections.openCount),
                LimitUse(name: "unsentTotal", max: unsent.byteCountMax, used: unsent.byteCount),
            ]
        }
        return sources
    }

    // MARK: Saying where

    /// What clients speak to the proxy.
    private var scheme: String { ListenerIdentity(settings) == nil ? "http" : "https" }

    private func proxyAddress(_ server: ProxyServer) -> String {
        switch settings.proxy.listen {
        case .unix(let path): "unix:\(path)"
        case .tcp(let host, let port):
            "\(scheme)://\(Self.reachable(host)):\(server.localPort ?? port)"
        }
    }

    /// The name by which a client on this machine reaches a listener.
    private static func reachable(_ host: String) -> String {
        switch host {
        case "0.0.0.0": "127.0.0.1"
        case "::": "[::1]"
        default: host.contains(":") ? "[\(host)]" : host
        }
    }

    /// Does the last work of the start once the admin API listens. If that fails, the services stop: whoever waits for the file of ports
    /// would wait for ever.
    private static func failure(
        of services: ServiceGroup, onPort ports: AsyncStream<Int>, _ work: (Int) async throws -> Void
    ) async -> (any Error)? {
        for await port in ports {
            do {
                try await work(port)
            } catch {
                await services.triggerGracefulShutdown()
                return error
            }
            break
        }
        return nil
    }

    /// Both ports are bound and tickets are restored: the first connection may come.
    private func begin(
        _ parts: ProxyParts, server: ProxyServer, address: String, adminPort: Int,
        instancePorts: InstancePortFile
    ) async throws {
        let admin: AdminPlace
        let adminAddress: String
        switch settings.admin.listen {
        case .tcp(let host, _):
            parts.addressGuard.add(host: host, port: adminPort)
            (admin, adminAddress) = (.port(adminPort), "http://\(Self.reachable(host)):\(adminPort)")
        case .unix(let path): (admin, adminAddress) = (.socket(path), "unix:\(path)")
        }
        // Not before both of our addresses are refused as targets.
        try await server.accept()
        let proxyPlace = ProxyPlace(port: server.localPort, scheme: scheme)
        do {
            try instancePorts.write(proxy: proxyPlace, admin: admin)
        } catch {
            parts.logger.warning(
                "cannot write the file of ports; commands need --admin-url unless the admin port is the default one",
                metadata: ["file": "\(instancePorts.path)"])
        }
        // Last, so that a program that waits for it can use commands at once.
        if let portFile { try PortFile.write(portFile, proxy: proxyPlace, admin: admin) }
        // The launcher waits for a line.
        if source.command != nil { return StandardOutput.write("ready") }
        let words = """
            layover \(LayoverVersion.current)
              proxy  \(address)
              admin  \(adminAddress)

            \(Self.hint(address))
            """
        // Standard output is the access log's where there is one.
        if settings.log.access == .off { StandardOutput.write(words) } else { StandardError.write(words) }
    }

    /// How programs are pointed at it.
    private static func hint(_ address: String) -> String {
        address.hasPrefix("unix:")
            ? "  Proxy variables cannot name a Unix socket; give it to the client in its own way."
            : "  export http_proxy=\(address) https_proxy=\(address)"
    }
}
