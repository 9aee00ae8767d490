import LayoverAdmin
import LayoverConfiguration
import LayoverEngine
import LayoverProxy
import Logging
import NIOCore
import Synchronization

/// Reloads the configuration while the proxy runs: on SIGHUP and by the admin API.
///
/// A configuration with an error changes nothing. One reload at a time: see `ReloadLine`.
final class Reloader: Sendable {
    private let line = ReloadLine()
    private let source: ConfigurationSource
    private let parts: ProxyParts
    private let notifier: Notifier
    private let level: LogThreshold
    /// The settings in force.
    private let current: Mutex<LoadedConfiguration>

    init(_ loaded: LoadedConfiguration, from source: ConfigurationSource, parts: ProxyParts, notifier: Notifier, level: LogThreshold) {
        self.source = source
        self.parts = parts
        self.notifier = notifier
        self.level = level
        current = Mutex(loaded)
    }

    /// Every key that is in force, secrets masked.
    var values: [ConfigurationValue] {
        current.withLock { $0.entries }.map {
            ConfigurationValue(key: $0.path, value: $0.value.text, source: $0.source.description)
        }
    }

    /// Whether clients of the proxy have to name a user.
    var asksForUser: Bool { current.withLock { !$0.settings.proxy.users.isEmpty } }

    func reload() async -> ReloadReport {
        await line.run { [self] in
            var report = ReloadReport(at: parts.engine.clock.now())
            do {
                let new = try source.load()
                for warning in new.warnings { parts.logger.warning("configuration", metadata: ["warning": "\(warning)"]) }
                let before = current.withLock { $0 }
                let inForce = try before.reloaded(as: new)
                // The certificate may have been renewed.
                try await ListenerIdentity(inForce.settings)?.use(on: parts.loops, logger: parts.logger)
                let changes = before.changes(to: new)
                report.appliedKeys = changes.atOnce
                report.restartKeys = changes.afterRestart
                current.withLock { $0 = inForce }
                await adopt(inForce.settings)
                report.entriesLeft = await parts.engine.untilRerouted(within: Self.routesWaitMax)
            } catch let error as ConfigurationErrors {
                report.errors = error.errors.map(\.description)
            } catch {
                report.errors = ["proxy.tls: \(error)"]
            }
            await parts.engine.reloaded(report)
            report.log(to: parts.logger)
            return report
        }
    }

    /// How long the report waits for the requests that wait to find their routes. With hundreds of thousands of tickets on a slow disk
    /// that takes longer, and the report has the number of those left. Default: 2 s.
    private static let routesWaitMax: Duration = .seconds(2)

    private func adopt(_ settings: Settings) async {
        level.set(settings.log.level)
        // Before requests have what the new routes set.
        parts.storeOpening.routeFields.add(from: settings)
        // Before the routes say so.
        await parts.authority.prepare(for: settings, loops: parts.loops, logger: parts.logger)
        // The engine first: what a loop plans by the table of before joins the set with an older number.
        var configuration = ReloadableConfiguration(settings)
        configuration.routes = await parts.engine.adopt(configuration.routes)
        for loop in parts.loops { try? await loop.adopt(configuration).get() }
        await parts.useCache(for: settings)
        await notifier.adopt(settings)
    }
}

extension ReloadReport {
    func log(to logger: Logger) {
        for error in errors { logger.error("configuration not reloaded", metadata: ["error": "\(error)"]) }
        guard errors.isEmpty else { return }
        var metadata: Logger.Metadata = [
            "applied": "\(appliedKeys.joined(separator: " "))",
            "needsRestart": "\(restartKeys.joined(separator: " "))",
        ]
        if entriesLeft > 0 { metadata["entriesLeft"] = "\(entriesLeft)" }
        logger.notice("configuration reloaded", metadata: metadata)
    }
}
