import LayoverCore
import LayoverTestSupport
import Logging
import ServiceLifecycle
import Testing

@testable import LayoverMonitor

struct ReachabilityMonitorTests {
    private static func isLinks(_ fact: ReachabilityFact) -> Bool {
        if case .links = fact { true } else { false }
    }

    /// Asking is everybody's right; only where even that is forbidden (seccomp) is there nothing to report.
    @Test func monitorReportsLinksUntilItIsCancelled() async throws {
        let facts = Watched<[ReachabilityFact]>([])
        let monitor = ReachabilityMonitor(logger: Logger(label: "test")) { fact in facts.update { $0.append(fact) } }
        let running = Task { try await monitor.run() }
        try await facts.wait("the first picture") { $0.contains(where: Self.isLinks) }
        running.cancel()
        try await running.value
    }

    @Test func monitorStopsWithTheServices() async throws {
        let facts = Watched<[ReachabilityFact]>([])
        let monitor = ReachabilityMonitor(logger: Logger(label: "test")) { fact in facts.update { $0.append(fact) } }
        let group = ServiceGroup(
            configuration: .init(
                services: [.init(service: monitor, successTerminationBehavior: .gracefullyShutdownGroup)],
                logger: Logger(label: "test")))
        async let running: Void = group.run()
        try await facts.wait("the first picture") { $0.contains(where: Self.isLinks) }
        await group.triggerGracefulShutdown()
        try await running
    }
}
