import LayoverCore
import LayoverTestSupport

@testable import LayoverMonitor

/// The monitor's thread within a namespace, and the facts it reported.
final class RunningMonitor: Sendable {
    struct Record: Sendable {
        var facts: [ReachabilityFact] = []
        var hasEnded = false
    }

    let record = Watched(Record())
    private let thread: MonitorThread

    init(in pair: NetworkPair, resolverPath: String = "/etc/resolv.conf") async throws {
        let record = record
        let started = Watched<MonitorThread?>(nil)
        Task {
            try await pair.within {
                let thread = try MonitorThread(resolverPath: resolverPath) { fact in
                    record.update { $0.facts.append(fact) }
                }
                started.update { $0 = thread }
                thread.run()
                record.update { $0.hasEnded = true }
            }
        }
        thread = try await started.take("the monitor's thread") { $0 }
    }

    /// Takes the facts up to the first that is wanted.
    @discardableResult
    func fact(
        _ what: String, where isWanted: @escaping @Sendable (ReachabilityFact) -> Bool
    ) async throws -> ReachabilityFact {
        try await record.take(what) { record in
            guard let index = record.facts.firstIndex(where: isWanted) else { return nil }
            let fact = record.facts[index]
            record.facts.removeFirst(index + 1)
            return fact
        }
    }

    func links(_ what: String, where isWanted: @escaping @Sendable (LinkSnapshot) -> Bool) async throws {
        try await fact(what) { if case .links(let snapshot) = $0 { isWanted(snapshot) } else { false } }
    }

    func stop() async throws {
        thread.stop()
        try await record.wait("the end of the monitor's thread") { $0.hasEnded }
    }
}
