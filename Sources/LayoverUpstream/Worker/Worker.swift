import CCurl
import Glibc
import LayoverCore
import LayoverEngine
import NIOCore
import Synchronization

/// The loop's side of a worker: puts commands into the mailbox of the thread.
///
/// `@unchecked Sendable`: what is gathered is touched on the loop only.
final class Worker: UpstreamWorker, @unchecked Sendable {
    private let mailbox: Mailbox
    private let thread: WorkerThread
    private let eventLoop: any EventLoop
    private let batchEnded: @Sendable () -> Void
    private var gathered: [WorkerCommand] = []
    private let open: OpenConnections
    /// Told to the thread where no connection leads to this machine too: one may be under way.
    private let leftClients: LeftClients

    init(
        options: UpstreamOptions, trust: TrustBundle, resolver: NameResolver,
        eventLoop: any EventLoop, batchEnded: @escaping @Sendable () -> Void
    ) throws(UpstreamError) {
        let mailbox = try Mailbox()
        let loop = try WorkerLoop(
            options: options, trust: trust, resolver: resolver, mailbox: mailbox,
            outbox: EventOutbox(eventLoop: eventLoop, batchEnded: batchEnded))
        open = loop.poller.sockets.open
        self.mailbox = mailbox
        self.eventLoop = eventLoop
        self.batchEnded = batchEnded
        leftClients = LeftClients(eventLoop: eventLoop)
        thread = try WorkerThread(running: loop)
        leftClients.whenGathered = { [weak self] clients in self?.post(.clientsLeft(clients)) }
    }

    // Nobody could start or cancel anything any more; the thread must not outlive its owner.
    deinit { _ = mailbox.post(.shutDown) }

    func start(_ attempt: UpstreamAttempt) {
        attempt.path = .libcurl
        post(.start(attempt))
    }

    func cancel(_ attempt: UpstreamAttempt) { post(.cancel(attempt)) }

    func cancelIfConnecting(_ attempt: UpstreamAttempt) { post(.cancelIfConnecting(attempt)) }

    func resumeReceiving(_ attempt: UpstreamAttempt) { post(.resumeReceiving(attempt)) }

    func ping(_ reply: @escaping @Sendable () -> Void) { post(.ping(reply)) }

    var connectionCounts: [Origin: ConnectionCount] { open.all }

    func networkChanged() { post(.networkChanged(at: MonotonicClock.now)) }

    func clientLeft(_ client: Int) { leftClients.add(client) }

    /// Gathers the commands of one turn of the loop, so that the thread is woken once for all of them.
    private func post(_ command: WorkerCommand) {
        gathered.append(command)
        // A task that is executed from within the loop runs at the end of the turn.
        if gathered.count == 1 { eventLoop.execute { self.handOver() } }
    }

    private func handOver() {
        if mailbox.post(all: &gathered) { return }
        // The worker is gone, but every attempt ends with an event.
        for case .start(let attempt) in gathered {
            attempt.receiver.receive(.failed(.abortedByProxy), of: attempt)
        }
        gathered = []
        batchEnded()
    }

    func shutDown() {
        leftClients.stop()
        _ = mailbox.post(.shutDown)
    }

    /// Blocks until the thread has ended. Never called on an event loop.
    func waitUntilEnded() { thread.join() }
}

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
