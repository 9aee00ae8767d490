import Foundation
import LayoverConfiguration
import LayoverCore
import LayoverTestSupport
import Logging
import NIOCore
import Testing

@testable import LayoverEngine
@testable import LayoverProxy
@testable import layover

@Suite struct ReloaderTests {
    private static func configuration(_ round: String) -> String {
        """
        {"proxy": {"threads": 4},
         "routes": {"api": {"host": "api.example", "setFields": {"X-Round": "\(round)"}}}}
        """
    }

    private static func round(in routes: RouteTable) -> String? {
        routes.route(named: "api")?.setFields.first?.value.revealed
    }

    @Test func everyLoopEndsWithTheLastOfParallelReloads() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(Self.configuration("0"), to: "config.json")
        let source = ConfigurationSource(file: file, environment: [:], overrides: [:])
        let loaded = try source.load()
        let logger = Logger(label: "reloads", factory: { _ in SwiftLogNoOpLogHandler() })
        let parts = try await ProxyParts(settings: loaded.settings, logger: logger)
        let notifier = Notifier(engine: parts.engine, spool: parts.spool, logger: parts.logger)
        let reloader = Reloader(loaded, from: source, parts: parts, notifier: notifier, level: LogThreshold(.critical))
        for round in 1...1000 {
            await withTaskGroup { group in
                for number in 1...4 {
                    group.addTask {
                        let text = Self.configuration("\(round).\(number)")
                        try? Data(text.utf8).write(to: URL(filePath: file), options: .atomic)
                        let report = await reloader.reload()
                        #expect(report.errors == [])
                    }
                }
            }
            let newest = Self.round(in: try source.load().settings.routes)
            let engine = parts.engine
            var known = [
                try await engine.eventLoop.submit { Self.round(in: engine.assumeIsolated { $0.routes }) }.get()
            ]
            for loop in parts.loops {
                known.append(try await loop.eventLoop.submit { Self.round(in: loop.configuration.routes) }.get())
            }
            try #require(known.allSatisfy { $0 == newest }, "round \(round): \(known), in the file \(newest ?? "-")")
        }
        for loop in parts.loops { _ = try await loop.shutDown().get() }
        await parts.store.close()
    }

    @Test(arguments: [
        (
            ReloadReport(at: Timestamp(nanoseconds: 0), appliedKeys: ["log.level", "routes.a.policy"], restartKeys: ["proxy.listen"]),
            ["notice configuration reloaded: applied=log.level routes.a.policy needsRestart=proxy.listen"]
        ),
        (
            ReloadReport(at: Timestamp(nanoseconds: 0), appliedKeys: ["routes.a.policy"], entriesLeft: 7),
            ["notice configuration reloaded: applied=routes.a.policy entriesLeft=7 needsRestart="]
        ),
        (
            ReloadReport(at: Timestamp(nanoseconds: 0), errors: ["routes.x: unknown key", "log.level: no level"]),
            [
                "error configuration not reloaded: error=routes.x: unknown key",
                "error configuration not reloaded: error=log.level: no level",
            ]
        ),
    ])
    func reportIsLogged(report: ReloadReport, lines: [String]) {
        let log = RecordedLog()
        report.log(to: log.logger)
        #expect(log.lines.value == lines)
    }

    /// The listener that is open can be reached by others, whatever the new file says of the next one.
    @Test func aRejectedReloadAppliesNoKey() async throws {
        func configuration(_ listen: String, _ rest: String = "") -> String {
            """
            {"proxy": {"threads": 1, "listen": "\(listen)", "insecureOpen": true}, "store": {"path": "layover.sqlite"}\(rest)}
            """
        }
        let folder = try TemporaryFolder()
        let file = try folder.write(configuration("0.0.0.0:8080"), to: "config.json")
        let source = ConfigurationSource(file: file, environment: [:], overrides: [:])
        let loaded = try source.load()
        let logger = Logger(label: "reloads", factory: { _ in SwiftLogNoOpLogHandler() })
        let parts = try await ProxyParts(settings: loaded.settings, logger: logger)
        let notifier = Notifier(engine: parts.engine, spool: parts.spool, logger: parts.logger)
        let reloader = Reloader(loaded, from: source, parts: parts, notifier: notifier, level: LogThreshold(.critical))
        let route = #"{"upstream": "https://a.example", "setFields": {"Authorization": "hush"}}"#
        try folder.write(configuration("127.0.0.1:8080", #", "routes": {"api": \#(route)}"#), to: "config.json")
        let report = await reloader.reload()
        #expect(report.errors.count == 1)
        #expect(report.appliedKeys == [] && report.restartKeys == [])
        try folder.write(configuration("127.0.0.1:8080"), to: "config.json")
        let accepted = await reloader.reload()
        #expect(accepted.errors == [] && accepted.restartKeys == ["proxy.listen"])
        for loop in parts.loops { _ = try await loop.shutDown().get() }
        await parts.store.close()
    }
}
