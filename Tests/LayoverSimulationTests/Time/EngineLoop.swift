import NIOCore

#if canImport(Dispatch)
import Dispatch
#endif

/// The engine's event loop in a simulation: runs one task when told to, so that what it and the loops of the
/// proxy tell each other can be in flight for as long as the seed says.
///
/// `@unchecked Sendable`: a simulation runs on one thread from its beginning to its end.
final class EngineLoop: NIOSerialEventLoopExecutor, @unchecked Sendable {
    private struct Task {
        var work: () -> Void
        /// For what never runs.
        var fail: ((any Error) -> Void)?
    }

    private struct Timer {
        var at: Int64
        var number: Int
        var work: () -> Void
        var fail: (any Error) -> Void
    }

    private let time: VirtualTime
    private var tasks = CircularBuffer<Task>()
    private var timers: [Timer] = []
    private var timerCount = 0
    private var isClosed = false

    init(time: VirtualTime) { self.time = time }

    var isIdle: Bool { tasks.isEmpty }

    /// When the first timer fires.
    var nextTimerAt: Int64? { timers.map(\.at).min() }

    /// Runs the oldest task.
    func runOne() {
        tasks.popFirst()?.work()
    }

    /// Makes tasks of the timers that are due.
    func fireTimers() {
        let due = timers.filter { $0.at <= time.nanoseconds }.sorted {
            ($0.at, $0.number) < ($1.at, $1.number)
        }
        timers.removeAll { $0.at <= time.nanoseconds }
        for timer in due { tasks.append(Task(work: timer.work, fail: timer.fail)) }
    }

    /// Throws away what has not run, so that nothing holds on to anything.
    func close() {
        isClosed = true
        for timer in timers { timer.fail(EventLoopError.cancelled) }
        for task in tasks { task.fail?(EventLoopError.cancelled) }
        timers = []
        tasks = CircularBuffer()
    }

    // MARK: EventLoop

    var inEventLoop: Bool { true }

    var now: NIODeadline { time.deadline }

    func execute(_ task: @escaping @Sendable () -> Void) {
        if !isClosed { tasks.append(Task(work: task)) }
    }

    @discardableResult
    func scheduleTask<T>(
        deadline: NIODeadline, _ task: @escaping @Sendable () throws -> T
    ) -> Scheduled<T> {
        let promise: EventLoopPromise<T> = makePromise()
        timerCount += 1
        let number = timerCount
        let work = {
            do { promise.assumeIsolated().succeed(try task()) } catch { promise.fail(error) }
        }
        timers.append(
            Timer(
                at: Int64(clamping: deadline.uptimeNanoseconds), number: number, work: work,
                fail: { promise.fail($0) }))
        return Scheduled(
            promise: promise,
            cancellationTask: { self.timers.removeAll { $0.number == number } })
    }

    @discardableResult
    func scheduleTask<T>(in wait: TimeAmount, _ task: @escaping @Sendable () throws -> T) -> Scheduled<T> {
        scheduleTask(deadline: now + wait, task)
    }

    func preconditionInEventLoop(file: StaticString, line: UInt) {}

    func preconditionNotInEventLoop(file: StaticString, line: UInt) {
        preconditionFailure("A simulation is always on its loop.", file: file, line: line)
    }

    func shutdownGracefully(queue: DispatchQueue, _ callback: @escaping @Sendable ((any Error)?) -> Void) {
        queue.async { callback(nil) }
    }
}
