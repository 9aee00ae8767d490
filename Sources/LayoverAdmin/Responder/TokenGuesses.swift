import LayoverCore
import LayoverEngine
import LayoverText
import Synchronization

/// Delays the refusals of wrong tokens, by the address of the client (`FailedGuesses`).
final class TokenGuesses: Sendable {
    /// Refusals that are delayed at a time for one address. Further ones are 429 at once. Default: 8.
    static let delayedPerAddressMax = 8

    private struct State {
        var failures = FailedGuesses()
        var delayed: [String: Int] = [:]
    }

    private let clock: any EngineClock
    private let pause: @Sendable (Duration) async -> Void
    private let state = Mutex(State())

    /// - Parameter pause: Returns after that time.
    init(clock: any EngineClock, pause: @escaping @Sendable (Duration) async -> Void) {
        self.clock = clock
        self.pause = pause
    }

    /// Counts a failure, and returns when it may be told.
    func failed(from context: AdminContext) async throws(AdminProblem) {
        let address = Self.network(of: context.peer)
        let now = clock.now()
        let delay: Duration? = state.withLock { state in
            let delay = state.failures.failed(from: address, at: now)
            guard delay > .zero else { return .zero }
            guard state.delayed[address] ?? 0 < Self.delayedPerAddressMax else { return nil }
            state.delayed[address, default: 0] += 1
            return delay
        }
        guard let delay else { throw .tooManyGuesses }
        guard delay > .zero else { return }
        await pause(delay)
        state.withLock { state in
            let left = (state.delayed[address] ?? 1) - 1
            state.delayed[address] = left > 0 ? left : nil
        }
    }

    /// The address without its port; of IPv6 the network. Empty where it is not known, as at a Unix socket.
    private static func network(of peer: String?) -> String {
        guard let peer, let colon = peer.lastIndex(of: ":") else { return "" }
        let host = peer[..<colon].filter { $0 != "[" && $0 != "]" }
        return NetworkAddress(anySpelling: host).map { "\($0.network)" } ?? host
    }
}
