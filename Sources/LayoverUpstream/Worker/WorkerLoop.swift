import CCurl
import Glibc
import LayoverCore
import LayoverEngine
import Synchronization

/// The thread's side of a worker: takes commands, lets libcurl work, gathers events, sleeps.
///
/// One turn: the events of epoll, the commands, the timers of libcurl, the deadlines. Then all that the turn produced is sent to the event
/// loop in one piece. Nothing else in the process touches the handles, the sockets or the transfers of this worker. libcurl is never
/// called from its own socket and timer callbacks.
final class WorkerLoop {
    let options: UpstreamOptions
    let trust: TrustBundle
    let poller: Poller
    let outbox: EventOutbox
    /// TLS sessions of all transfers, so that a new connection need not shake hands in full.
    let share: UnsafeMutableRawPointer?
    let mailbox: Mailbox
    let resolver: NameResolver
    var names = WorkerNames()
    /// The name resolver knows this worker by this value.
    private(set) lazy var asker = resolver.join(mailbox)
    private var commands: [WorkerCommand] = []

    /// The generations of libcurl's handles. New attempts go to the last one.
    private var generations: [MultiGeneration] = []
    /// The running transfers, by slot. Nil: no transfer runs in the slot.
    var transfers: [Transfer?] = []
    private var freeSlots: [Int] = []
    /// Ended transfers whose handles may carry other attempts.
    private(set) var spares: [Transfer] = []
    private var nextSerial: UInt64 = 0
    private var liveCount = 0
    /// Transfers with something to hand over at the end of the turn.
    private var touched: [Transfer] = []
    private var handingOver: [Transfer] = []
    /// Transfers whose request may have ended in this turn; see `Transfer.readIfRequestEnded`.
    private var readingAgain: [Transfer] = []
    private var isShuttingDown = false

    /// When this turn began, on `MonotonicClock`.
    private(set) var now = MonotonicClock.now
    /// Number of this turn.
    private(set) var turn: UInt64 = 0
    /// When deadlines must be looked at again; nil when no transfer has one.
    private var deadlineCheckAt: UInt64?
    private var sweeper: IdleSweeper?
    /// When idle connections must be looked at again; nil when there are none.
    private var sweepAt: UInt64?

    init(
        options: UpstreamOptions, trust: TrustBundle, resolver: NameResolver, mailbox: Mailbox,
        outbox: EventOutbox
    ) throws(UpstreamError) {
        self.options = options
        self.trust = trust
        self.resolver = resolver
        self.mailbox = mailbox
        self.outbox = outbox
        poller = try Poller(wake: mailbox.descriptor, options: options)
        share = curl_share_init()
        layover_share(share, CURL_LOCK_DATA_SSL_SESSION)
        sweeper = IdleSweeper(ageMax: options.idleConnectionAgeMax)
        guard beginGeneration() else {
            throw UpstreamError(code: .libcurlUnusable, context: "Cannot create a libcurl multi handle.")
        }
    }

    // MARK: Turns

    /// Runs until it is told to shut down.
    func run() {
        while !(isShuttingDown && liveCount == 0) {
            let mayRest = mailbox.fallAsleep()
            poller.wait(milliseconds: mayRest ? millisecondsToSleep() : 0)
            if mayRest { mailbox.wakeUp() }
            now = MonotonicClock.now
            turn &+= 1
            poller.report { socket, events, generation in generation.act(on: socket, events: events) }
            mailbox.take(into: &commands)
            for command in commands { perform(command) }
            commands.removeAll(keepingCapacity: true)
            finishTurn()
        }
        cleanUp()
    }

    /// Drains results until nothing moves any more, then hands over what the turn produced.
    private func finishTurn() {
        closeThoseLeft()
        sweepIfDue()
        poller.endLingering(at: now)
        repeat {
            for generation in generations { generation.actIfDue(at: now) }
            readAgain()
        } while drainResults()
        checkDeadlines()
        // Resuming may make libcurl deliver at once, which touches again.
        while !touched.isEmpty {
            swap(&touched, &handingOver)
            for transfer in handingOver { transfer.handOver() }
            handingOver.removeAll(keepingCapacity: true)
        }
        dropOldGenerations()
        withdrawNames()
        outbox.deliver()
    }

    /// - Returns: Whether a transfer was started again, which must get its first action.
    private func drainResults() -> Bool {
        var hasRestarted = false
        for generation in generations {
            while let (easy, code) = generation.nextResult() {
                guard let transfer = Transfer.carried(by: easy) else { continue }
                if transfer.restartsAfter(code) {
                    restart(transfer)
                    hasRestarted = true
                } else {
                    finish(transfer, code: code)
                }
            }
        }
        return hasRestarted
    }

    private func millisecondsToSleep() -> CInt {
        guard readingAgain.isEmpty else { return 0 }
        var next = min(deadlineCheckAt ?? .max, sweepAt ?? .max, poller.sockets.leavingAt ?? .max, poller.lingerEndsAt ?? .max)
        for generation in generations { next = min(next, generation.timerAt ?? .max) }
        if next == .max { return -1 }
        let current = MonotonicClock.now
        guard next > current else { return 0 }
        // Rounded up: waking before the time would only mean to sleep again.
        return CInt(min((next - current + 999_999) / 1_000_000, UInt64(CInt.max)))
    }

    func touch(_ transfer: Transfer) {
        if transfer.isTouched { return }
        transfer.isTouched = true
        touched.append(transfer)
    }

    func readsAgain(_ transfer: Transfer) { readingAgain.append(transfer) }

    private func readAgain() {
        guard !readingAgain.isEmpty else { return }
        let transfers = readingAgain
        readingAgain.removeAll(keepingCapacity: true)
        for transfer in transfers { transfer.readIfRequestEnded() }
    }

    // MARK: Commands

    private func perform(_ command: WorkerCommand) {
        switch command {
        case .start(let attempt): start(attempt)
        case .cancel(let attempt): abort(attempt.workerState as? Transfer, for: .cancelled)
        case .cancelIfConnecting(let attempt):
            guard !attempt.hasBegunSending.load(ordering: .relaxed) else { return }
            abort(attempt.workerState as? Transfer, for: .cancelled)
        case .resumeReceiving(let attempt): (attempt.workerState as? Transfer)?.resumeReceiving()
        case .resumeSending(let slot, let serial):
            guard let transfer = transfers[slot], transfer.serial == serial else { return }
            transfer.resumeSending()
        case .networkChanged(let time):
            _ = beginGeneration()
            for case let transfer? in transfers where transfer.descriptor >= 0 && LocalAddress.isGone(from: transfer.descriptor) {
                abort(transfer, for: .addressGone)
            }
            askAgain(since: time)
        case .clientsLeft(let clients): poller.sockets.clientsLeft(clients)
        case .nameAnswered(let name, let answer): nameAnswered(name, answer)
        case .ping(let reply): reply()
        case .shutDown:
            isShuttingDown = true
            for transfer in transfers { abort(transfer, for: .cancelled) }
        }
    }

    private func start(_ attempt: UpstreamAttempt) {
        guard !isShuttingDown,
            let transfer = spares.popLast() ?? Transfer(loop: self)
        else { return outbox.add(.failed(.abortedByProxy), of: attempt) }
        nextSerial &+= 1
        let slot = freeSlots.popLast() ?? transfers.count
        if slot == transfers.count { transfers.append(nil) }
        transfers[slot] = transfer
        liveCount += 1
        transfer.begin(attempt, slot: slot, serial: nextSerial)
        guard attempt.request.isAcceptable else { return finish(transfer, code: CURLE_URL_MALFORMAT) }
        launch(transfer)
    }

    /// Gives an attempt to libcurl; `launch` and `nameAnswered` see to its name first.
    func add(_ transfer: Transfer) {
        guard let generation = generations.last else { return finish(transfer, code: CURLE_FAILED_INIT) }
        transfer.resolving.wasAdded = true
        let result = curl_multi_add_handle(generation.handle, transfer.easy)
        guard result == CURLM_OK else { return finish(transfer, code: CURLE_FAILED_INIT) }
        transfer.generation = generation
        generation.transferCount += 1
    }

    /// Tries the same attempt again: on a new connection, or once the addresses of its name are known.
    private func restart(_ transfer: Transfer) {
        remove(transfer)
        let lacksName = transfer.abortCause.isNameMissing
        transfer.prepareRestart()
        if lacksName { resolve(transfer) } else { launch(transfer) }
    }

    // MARK: Ends

    func abort(_ transfer: Transfer?, for cause: AbortCause) {
        guard let transfer, transfer.attempt != nil else { return }
        transfer.abortCause = transfer.abortCause ?? cause
        finish(transfer, code: CURLE_ABORTED_BY_CALLBACK, isCutOff: true)
    }

    /// Says the last word of an attempt and makes its handle free.
    ///
    /// - Parameter isCutOff: Whether libcurl was still at work on it. Then its handle is not used again.
    func finish(_ transfer: Transfer, code: CURLcode, isCutOff: Bool = false) {
        let last = transfer.conclude(code)
        if case .failed(let failure) = last, failure.phase == .connecting, failure.evidence == .neverSent, transfer.abortCause == nil {
            distrustName(of: transfer)
        }
        if isCutOff { poller.sockets.cutOff(transfer.descriptor, by: transfer.serial) }
        remove(transfer)
        poller.sockets.release(transfer.descriptor, by: transfer.serial, at: now)
        if sweepAt == nil { scheduleSweep() }
        stopWaiting(transfer)
        transfers[transfer.slot] = nil
        freeSlots.append(transfer.slot)
        liveCount -= 1
        if let attempt = transfer.end() { outbox.add(last, of: attempt) }
        if !isCutOff, transfer.isReusable(after: code), spares.count < options.spareTransferCountMax {
            spares.append(transfer)
        }
    }

    /// The response is complete while libcurl still waits to send. The connection is closed.
    func finishEarly(_ transfer: Transfer) { finish(transfer, code: CURLE_OK, isCutOff: true) }

    private func remove(_ transfer: Transfer) {
        guard let generation = transfer.generation else { return }
        curl_multi_remove_handle(generation.handle, transfer.easy)
        generation.transferCount -= 1
        transfer.generation = nil
    }

    // MARK: Deadlines

    /// Says that a transfer has to be looked at then, if nothing happens before.
    func noteDeadline(_ deadline: UInt64?) {
        guard let deadline else { return }
        deadlineCheckAt = min(deadlineCheckAt ?? .max, deadline)
    }

    /// Looks at all transfers, but only when the earliest deadline that was known has come.
    private func checkDeadlines() {
        guard let checkAt = deadlineCheckAt, checkAt <= now else { return }
        var next: UInt64?
        for case let transfer? in transfers {
            guard let deadline = transfer.deadline else { continue }
            if deadline <= now, transfer.deadlineCame() {
                abort(transfer, for: .timedOut)
            } else if let deadline = transfer.deadline {
                next = min(next ?? .max, max(deadline, now))
            }
        }
        deadlineCheckAt = next
    }

    // MARK: Idle connections

    private func scheduleSweep() {
        guard let sweeper, poller.sockets.idleCount > 0 else { return sweepAt = nil }
        sweepAt = now + sweeper.interval
    }

    private func sweepIfDue() {
        if poller.hasRetired {
            poller.hasRetired = false
            sweepAt = min(sweepAt ?? .max, now + IdleSweeper.delay)
        }
        guard let due = sweepAt, due <= now else { return }
        for generation in generations { sweeper?.sweep(generation) }
        scheduleSweep()
    }

    /// Closes the idle connections to servers of this machine whose clients have left, when their time has come. libcurl has no call that
    /// closes one connection: it closes what has ended when it looks, once a second at most. So it looks now, and again in `sweepIfDue`.
    private func closeThoseLeft() {
        let left = poller.sockets.takeThoseLeft(at: now)
        guard !left.isEmpty else { return }
        for socket in left { poller.retire(socket) }
        for generation in generations { sweeper?.sweep(generation) }
    }

    // MARK: Generations

    private func beginGeneration() -> Bool {
        guard let generation = MultiGeneration(poller: poller, options: options) else { return false }
        generations.append(generation)
        return true
    }

    private func dropOldGenerations() {
        guard generations.count > 1 else { return }
        let current = generations.removeLast()
        for generation in generations where generation.transferCount == 0 { generation.cleanUp() }
        generations.removeAll { $0.transferCount == 0 }
        generations.append(current)
    }

    private func cleanUp() {
        resolver.leave(asker)
        for command in mailbox.close() {
            if case .start(let attempt) = command { outbox.add(.failed(.abortedByProxy), of: attempt) }
        }
        outbox.deliver()
        spares.removeAll()
        sweeper = nil
        for generation in generations { generation.cleanUp() }
        generations.removeAll()
        poller.endLingering(at: .max)
        curl_share_cleanup(share)
    }
}
