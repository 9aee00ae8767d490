import LayoverCore
import LayoverEngine
import NIOCore

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
        thread = try WorkerThread(running: loop)
    }

    // Nobody could start or cancel anything any more; the thread must not outlive its owner.
    deinit { shutDown() }

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

    func shutDown() { _ = mailbox.post(.shutDown) }

    /// Blocks until the thread has ended. Never called on an event loop.
    func waitUntilEnded() { thread.join() }
}
