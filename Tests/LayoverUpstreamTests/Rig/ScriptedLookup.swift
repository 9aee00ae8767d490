import LayoverTestSupport
import Synchronization

@testable import LayoverUpstream

/// Stands in for getaddrinfo: says what the test wants, when the test wants it.
final class ScriptedLookup: Sendable {
    /// Names in the order in which they were looked up.
    let asked = Watched<[String]>([])
    private let outcomes: Mutex<[NameOutcome]>
    /// Lookups block until it fires; nil: never.
    private let gate: Signal?
    /// True if only the first lookup blocks.
    private let blocksOnce: Bool

    /// - Parameter outcomes: One for each lookup; the last is given from then on.
    init(_ outcomes: NameOutcome..., gate: Signal? = nil, blocksOnce: Bool = false) {
        self.outcomes = Mutex(outcomes)
        self.gate = gate
        self.blocksOnce = blocksOnce
    }

    func lookUp(_ name: String) -> NameOutcome {
        let outcome = outcomes.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
        let isFirst = asked.value.isEmpty
        asked.update { $0.append(name) }
        if isFirst || !blocksOnce { gate?.block() }
        return outcome
    }

    /// - Parameter nameAgeMax: Default: so long that a busy machine keeps each name.
    func resolver(nameAgeMax: Duration = .seconds(300), runningCountMax: Int = 8) -> NameResolver {
        var limits = ResolverLimits(nameAgeMax: nameAgeMax)
        limits.runningCountMax = runningCountMax
        return NameResolver(limits: limits, lookUp: lookUp)
    }
}
