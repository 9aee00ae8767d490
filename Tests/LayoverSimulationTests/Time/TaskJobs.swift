import Glibc

/// What Swift's own threads would do, in a simulation: jobs of tasks that no actor of ours runs wait here, on the
/// simulation's thread, until the seed lets them go on. Without it no seed would tell the same story twice.
final class TaskJobs: TaskExecutor, @unchecked Sendable {
    // `@unchecked Sendable`: a simulation runs on one thread from its beginning to its end.

    private var jobs: [UnownedJob] = []

    var isIdle: Bool { jobs.isEmpty }

    func runOne() {
        guard !jobs.isEmpty else { return }
        jobs.removeFirst().runSynchronously(on: asUnownedTaskExecutor())
    }

    var count: Int { jobs.count }

    /// Lets one of them go on that need not be the first: those of different tasks have no order among themselves.
    func runOne(at index: Int) { jobs.remove(at: index).runSynchronously(on: asUnownedTaskExecutor()) }

    func enqueue(_ job: consuming ExecutorJob) { jobs.append(UnownedJob(job)) }

    /// Takes the jobs of tasks that this thread starts or wakes from now on.
    func takeOver() {
        _ = Self.isInstalled
        pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
    }

    func letGo() { pthread_setspecific(Self.key, nil) }

    // MARK: The runtime's hook

    private typealias Original = @convention(thin) (UnownedJob) -> Void
    private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// Other threads go on as ever.
    private static let isInstalled: Bool = {
        guard let symbol = dlsym(dlopen(nil, RTLD_LAZY), "swift_task_enqueueGlobal_hook") else { return false }
        symbol.assumingMemoryBound(to: Hook?.self).pointee = { job, original in
            if let jobs = pthread_getspecific(TaskJobs.key) {
                Unmanaged<TaskJobs>.fromOpaque(jobs).takeUnretainedValue().jobs.append(job)
            } else {
                original(job)
            }
        }
        return true
    }()
}
