import Foundation
import Logging
import Synchronization
import UnixSignals

/// Everything that stops the proxy: SIGTERM, SIGINT, and `POST /v1/drain`. SIGHUP, which comes the same way,
/// has it read its configuration anew.
final class StopSignal: Sendable {
    private let requests: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (requests, continuation) = AsyncStream.makeStream() }

    /// Begins a graceful shutdown.
    func request() { continuation.yield() }

    /// Calls `stop` at the first request, or when standard input ends. The input ends when the launcher or its command has ended.
    ///
    /// For the private proxy of one command. SIGINT, SIGTERM, SIGHUP and SIGQUIT are meant for the command, so the proxy ignores them.
    func listenToLauncher(_ stop: @escaping @Sendable () async -> Void) {
        for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] { signal(number, SIG_IGN) }
        Thread.detachNewThread { [self] in
            var (byte, count) = (UInt8(0), 1)
            repeat { count = read(STDIN_FILENO, &byte, 1) } while count > 0 || count < 0 && errno == EINTR
            request()
        }
        onRequest(stop)
    }

    private func onRequest(_ stop: @escaping @Sendable () async -> Void) {
        let requests = self.requests
        Task.detached {
            for await _ in requests {
                await stop()
                break
            }
        }
    }

    /// Calls `stop` at the first signal or request; a second signal ends the process at once. When this returns, signals have
    /// this effect only.
    func listen(reload: @escaping @Sendable () async -> Void, _ stop: @escaping @Sendable () async -> Void) async {
        onRequest(stop)
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup)
        // A reload may wait for the store, and a signal that stops the proxy must not wait for the reload. Several SIGHUP during a
        // reload ask for one more reload: it reads the newest file.
        let (reloads, reloading) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        Task.detached { for await _ in reloads { await reload() } }
        Task.detached {
            var isStopping = false
            for await signal in signals {
                if signal == .sighup {
                    reloading.yield()
                    continue
                }
                if isStopping { exit(130) }
                isStopping = true
                self.request()
            }
        }
    }
}

/// Whether the proxy is being stopped.
final class DrainState: Sendable {
    private let state = Atomic<Bool>(false)

    var isDraining: Bool { state.load(ordering: .relaxed) }

    func begin() { state.store(true, ordering: .relaxed) }
}
