import NIOCore

/// One timer for the deadlines of many: it is set to the earliest that was noted, and then all are looked at. Those that have moved
/// on meanwhile, as most do, cost nothing until then. Confined to its loop.
final class DeadlineTimer {
    /// Called when a noted deadline has come. Deadlines that have not come yet must be noted again.
    var whenDue: (NIODeadline) -> Void = { _ in }
    private let eventLoop: any EventLoop
    private var timer: Scheduled<Void>?
    private var dueAt: NIODeadline?
    private var isStopped = false

    init(eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    func note(_ deadline: NIODeadline) {
        if let dueAt, dueAt <= deadline { return }
        guard !isStopped else { return }
        timer?.cancel()
        dueAt = deadline
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        timer = eventLoop.scheduleTask(deadline: deadline) { bound.value.fire() }
    }

    private func fire() {
        dueAt = nil
        timer = nil
        whenDue(eventLoop.now)
    }

    func stop() {
        isStopped = true
        timer?.cancel()
        timer = nil
    }
}
