import Dispatch
import LayoverTestSupport

/// Runs jobs one after the other on a queue of its own, counts them, and knows whether it runs the caller.
final class RecordingExecutor: TaskExecutor {
    private static let key = DispatchSpecificKey<ObjectIdentifier>()
    private let queue = DispatchQueue(label: "recording executor")
    let jobs = Watched(0)

    init() { queue.setSpecific(key: Self.key, value: ObjectIdentifier(self)) }

    var isCurrent: Bool { DispatchQueue.getSpecific(key: Self.key) == ObjectIdentifier(self) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.update { $0 += 1 }
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
