import LayoverCore
import LayoverTestSupport

@testable import LayoverMonitor

/// Two namespaces with a cable, for one test; says so and does nothing where they are not permitted.
func withNetwork(_ body: @Sendable (NetworkPair) async throws -> Void) async throws {
    guard await NetworkPair.isPermitted(orSkip: "no test of the links of a namespace") else { return }
    try await NetworkPair.with(body)
}

extension NetworkPair {
    /// Runs `ip` on the near side.
    func near(_ words: String...) async throws {
        try await Command("ip", ["-n", name(.near)] + words).succeed()
    }

    /// Runs the body on a thread of its own within the near side.
    func within<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        let name = name(.near)
        return try await onOwnThread {
            try NetworkNamespace.enter(name)
            return try body()
        }
    }
}

/// A link watch that several threads of a test use one after the other, each within the namespace.
///
/// `@unchecked Sendable`: the test awaits the end of each use before the next begins.
final class TestedLinkWatch: @unchecked Sendable {
    private var watch: LinkWatch
    private let pair: NetworkPair

    init(_ pair: NetworkPair, byteCountMax: Int32? = nil) async throws {
        self.pair = pair
        watch = try await pair.within { Boxed(LinkWatch(events: try .forEvents(byteCountMax: byteCountMax))) }.value
    }

    func read() async throws -> LinkSnapshot? { try await pair.within { self.watch.read() } }

    private struct Boxed: @unchecked Sendable {
        let value: LinkWatch
        init(_ value: LinkWatch) { self.value = value }
    }
}
