import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverOrigin
import NIOCore
import Synchronization

/// The attempt under way of an exchange, and the worker that makes it. Confined to its loop.
final class AttemptRun {
    private let loop: ProxyLoop
    private(set) var attempt: UpstreamAttempt?
    /// Not nil while the connection that was dialled for the attempt is made ready.
    var opening: OriginConnecting?
    /// Not nil where the attempt has its own connection and asks there for another protocol. Without an attempt there is none.
    var handshake: UpgradeHandshake?
    /// The parent proxy of the newest attempt. A reload may have given the request another one since. Nil: none.
    private(set) var parentProxy: ParentProxy?
    /// When the attempt began, in seconds since 1970.
    private(set) var startedAt = 0
    /// When the connection of a dial or an upgrade must be ready. A transfer has the limit of its worker.
    private(set) var readyBy = NIODeadline.distantFuture
    /// The record on disk that the attempt begins to send; nil if none is needed.
    private(set) var startRecord: StartRecord?
    /// Makes the attempts of a ticket. Nil: the loop's own worker makes them.
    private var ticketWorker: (any UpstreamWorker)?
    /// The attempt under way, where people are shown how far it is. Read on other threads.
    private let shown = Mutex<UpstreamAttempt?>(nil)
    private var isShown = false
    /// The attempt that the end of its entry cut off: what it proves is still to be recorded.
    private var aborted: (attempt: UpstreamAttempt, entry: EntryID)?
    /// The origin in whose window the attempt is counted, because the engine does not know it.
    private var freshOrigin: Origin?
    /// Bytes of a response that nobody reads, since its request was handed over.
    var unreadByteCount = 0

    init(loop: ProxyLoop) { self.loop = loop }

    private var worker: (any UpstreamWorker)? { ticketWorker ?? loop.workers.first }

    /// - Returns: The worker of the next attempt; nil where there is no worker any more.
    func chooseWorker(for holder: ExchangeMachine.Holder) -> (any UpstreamWorker)? {
        guard case .store = holder else { return loop.workers.first }
        ticketWorker = loop.workers.nextForTickets()
        return ticketWorker
    }

    /// - Parameter entry: The ticket whose row has to say that the attempt begins to send.
    /// - Returns: What the worker asks before it sends.
    func recordStart(of entry: EntryID, _ counts: AttemptCounts, by exchange: Exchange) -> SendingPermit {
        let record = StartRecord(engine: loop.engine, id: entry)
        startRecord = record
        return { record.write(counts, by: exchange, done: $0) }
    }

    /// - Parameters:
    ///   - isTimed: Whether the cache wants to know when it began.
    ///   - isShown: Whether it is the attempt of an entry. Others cost nothing for it.
    func start(_ attempt: UpstreamAttempt, by worker: any UpstreamWorker, isTimed: Bool, isShown: Bool) {
        self.attempt = attempt
        parentProxy = attempt.request.parentProxy
        if isShown { show() }
        if isTimed { startedAt = loop.wallSeconds }
        if attempt.request.purpose != .transfer { readyBy = attempt.request.timeouts.readyBy(from: loop.eventLoop.now) }
        worker.start(attempt)
    }

    /// Lets people see how far the attempt under way is.
    func show() {
        guard let attempt else { return }
        isShown = true
        shown.withLock { $0 = attempt }
    }

    /// From any thread.
    var progress: AttemptProgress? { shown.withLock { $0 }?.progress }

    /// Counts the attempt that is about to begin in the window of its origin.
    func countAsFresh(_ origin: Origin) {
        loop.engine.post(FreshAttemptCountChanged(origin, by: 1))
        freshOrigin = origin
    }

    func endFresh() {
        guard let origin = freshOrigin else { return }
        freshOrigin = nil
        loop.engine.post(FreshAttemptCountChanged(origin, by: -1))
    }

    /// When the attempt began, and now.
    var cacheTimes: CacheTimes { CacheTimes(requestedAt: startedAt, answeredAt: loop.wallSeconds) }

    var hasBegunSending: Bool { attempt?.hasBegunSending.load(ordering: .acquiring) == true }

    /// Bytes that the worker may be ahead of the recipient when it goes on after a pause. Default: 128 KiB.
    private static let resumeBelow = 128 << 10

    /// The recipient has taken so many bytes of the response.
    func taken(_ count: Int) {
        guard let attempt, count > 0 else { return }
        let left = attempt.bytesOutstanding.subtract(count, ordering: .acquiringAndReleasing).newValue
        if left < Self.resumeBelow, attempt.isReceivingPaused.load(ordering: .acquiring) { worker?.resumeReceiving(attempt) }
    }

    // MARK: The end

    /// The attempt has come to its end.
    func end() {
        attempt = nil
        opening = nil
        handshake = nil
        if isShown {
            isShown = false
            shown.withLock { $0 = nil }
        }
        endFresh()
    }

    /// Aborts the attempt. Its last event is a late one.
    ///
    /// - Parameter entry: The entry that hears of what the attempt proves; nil: its evidence is not recorded.
    func cancel(evidenceFor entry: EntryID? = nil) {
        if let attempt, let entry { aborted = (attempt, entry) }
        abort()
        end()
    }

    /// Aborts the attempt, which goes on being the one under way. Its last event is not wanted.
    func abortQuietly() {
        guard let attempt else { return }
        attempt.receiver = NoReceiver()
        abort()
    }

    /// Aborts the attempt, whose last event the exchange is still to get.
    func abort() {
        if let opening {
            opening.cancel()
        } else if let handshake {
            handshake.cancel()
        } else if let attempt {
            worker?.cancel(attempt)
        }
    }

    func cancelIfConnecting() {
        if let opening { opening.cancel() } else if let attempt { worker?.cancelIfConnecting(attempt) }
    }

    /// Handles an event of an attempt that is over for the exchange. Its evidence is recorded if an entry is to get it.
    func receiveLate(_ event: UpstreamEvent, of attempt: UpstreamAttempt, in exchange: Exchange) {
        switch event {
        case .dialled(let socket): socket.close()
        case .failed(let failure):
            guard let aborted, aborted.attempt === attempt else { return }
            self.aborted = nil
            exchange.record(nil, failure: failure)
            loop.engine.post(.evidence(aborted.entry, failure, exchange.takeTally()))
        case .bodyWanted, .bodyUnwanted, .interim, .head, .body, .endWithheld, .complete, .end: break
        }
    }
}

/// Takes the events of an attempt that is over for everybody.
private final class NoReceiver: UpstreamReceiver {
    func receive(_ event: UpstreamEvent, of attempt: UpstreamAttempt) {
        if case .dialled(let socket) = event { socket.close() }
    }
}

/// The record on disk that the first byte of an attempt is about to leave: after a crash it shows that the request may have been
/// applied.
///
/// The engine writes it, because it knows how the ticket stands by then.
final class StartRecord: Sendable {
    private let engine: Engine
    private let id: EntryID
    private let isRefused = Atomic<Bool>(false)

    init(engine: Engine, id: EntryID) {
        self.engine = engine
        self.id = id
    }

    /// Whether the record was not written, so that nothing was sent.
    var wasRefused: Bool { isRefused.load(ordering: .acquiring) }

    /// Writes the record, for the permit of the attempt.
    ///
    /// - Parameter done: Gets whether the record is on disk, so that the first byte may leave.
    func write(_ counts: AttemptCounts, by exchange: any HeldExchange, done: @escaping @Sendable (Bool) -> Void) {
        engine.recordStart(id, counts, by: exchange) { [self] isMarked in
            isRefused.store(!isMarked, ordering: .releasing)
            done(isMarked)
        }
    }
}
