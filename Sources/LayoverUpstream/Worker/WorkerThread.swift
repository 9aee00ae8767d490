import CCurl
import Glibc
import Synchronization

/// The thread of one worker.
final class WorkerThread: Sendable {
    private enum State: Sendable {
        case running(pthread_t)
        case joined
    }

    private let state: Mutex<State>

    /// Starts the thread; it keeps `loop` alive until it ends.
    init(running loop: WorkerLoop) throws(UpstreamError) {
        var thread = pthread_t()
        let context = Unmanaged.passRetained(loop)
        let result = pthread_create(&thread, nil, Self.main, context.toOpaque())
        guard result == 0 else {
            context.release()
            throw UpstreamError(
                code: .outOfResources, context: "Cannot create a thread.", osError: result)
        }
        state = Mutex(.running(thread))
    }

    deinit {
        // Nobody waits for it: its resources are to be freed when it ends.
        if case .running(let thread) = state.withLock({ $0 }) { pthread_detach(thread) }
    }

    /// Blocks until the thread has ended; the second call returns at once.
    func join() {
        let running = state.withLock { state in
            defer { state = .joined }
            return state
        }
        if case .running(let thread) = running { pthread_join(thread, nil) }
    }

    private static let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
        context in
        guard let context else { return nil }
        layover_name_thread("layover-curl")
        Unmanaged<WorkerLoop>.fromOpaque(context).takeRetainedValue().run()
        return nil
    }
}
