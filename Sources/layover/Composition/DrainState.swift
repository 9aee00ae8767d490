import Synchronization

/// Whether the proxy is being stopped.
final class DrainState: Sendable {
    private let state = Atomic<Bool>(false)

    var isDraining: Bool { state.load(ordering: .relaxed) }

    func begin() { state.store(true, ordering: .relaxed) }
}
