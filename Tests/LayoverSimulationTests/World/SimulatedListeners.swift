import LayoverCore

@testable import LayoverEngine
@testable import LayoverTestSupport

/// Listening sockets of the simulated machine.
struct SimulatedListeners: ListenerTable {
    let look: Unchecked<(Int) -> Set<UInt64>?>

    func listeners(on port: Int) -> Set<UInt64>? { look.value(port) }
}

extension Simulation {
    /// The sockets that listen at a port. Each start of a server makes another.
    func listeners(on port: Int) -> Set<UInt64>? {
        count("looks for listeners")
        guard !isRecovering, let origin = origins.first(where: { $0.isLoopback && $0.port == port }) else {
            return parentProxyListeners(on: port)
        }
        return moods[origin] == .refusing ? [] : [startCounts[origin] ?? 0]
    }

    private func parentProxyListeners(on port: Int) -> Set<UInt64> {
        guard let gate = Self.parentProxies.map(\.gate).first(where: { $0.isLoopback && $0.port == port }) else { return [0] }
        return parentProxyMoods[gate] == .refusing ? [] : [startCounts[gate] ?? 0]
    }

    /// A server that refused connections is started, or begins anew.
    func noteStart(of origin: Origin) { startCounts[origin, default: 0] += 1 }
}
