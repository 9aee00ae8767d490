import Glibc
import Synchronization

/// The signals that come to `exec` while its command runs, in the order in which they come.
///
/// What the kernel sends because of the terminal (Ctrl-C, Ctrl-Z, Ctrl-\, the end of the connection) goes to the command too, which
/// is in the same process group, so it is not passed on. What another process sends (kill(1)) is meant for the command, which is
/// what others believe this process to be, so it is. A process that signals the whole group reaches the command twice: that cannot
/// be told apart.
struct CommandSignals {
    /// One signal. It is written to a pipe as it lies in memory.
    struct Arrival {
        var number: Int32
        /// How the signal was sent (sigaction(2)): `SI_KERNEL`, `SI_USER`, ….
        var code: Int32
        var sender: pid_t

        func isPassedOn(to command: pid_t) -> Bool { number != SIGCHLD && code != CommandSignals.byKernel && sender != command }
    }

    /// `SI_KERNEL` of <asm-generic/siginfo.h>.
    static let byKernel: Int32 = 0x80

    /// Where the handler writes. Of the process, as handlers are.
    private static let target = Atomic<Int32>(-1)

    /// Those that stop or end this process would leave the command without a parent. The others: KILL and STOP cannot be caught;
    /// faults are this process's own; CONT and URG do nothing here; PIPE and TTOU are ignored; glibc keeps 32 and 33 for itself.
    private static let left: Set<Int32> = [
        SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGCONT, SIGURG, SIGPIPE, SIGTTOU, 32, 33,
    ]

    private let pipe: OwnPipe

    /// Begins to take them. Ignored ones stay ignored, as after nohup(1).
    init(_ inheritance: Inheritance) throws(SpawnFailure) {
        pipe = try OwnPipe()
        for end in [pipe.reading, pipe.writing] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        Self.target.store(pipe.writing, ordering: .sequentiallyConsistent)
        var action = sigaction()
        // Runs only what signal-safety(7) allows.
        action.__sigaction_handler.sa_sigaction = { number, info, _ in
            let kept = errno
            var arrival = Arrival(number: number, code: info?.pointee.si_code ?? 0, sender: info?.pointee._sifields._kill.si_pid ?? 0)
            _ = Glibc.write(CommandSignals.target.load(ordering: .relaxed), &arrival, MemoryLayout<Arrival>.size)
            errno = kept
        }
        action.sa_flags = SA_SIGINFO | SA_RESTART
        for number in 1...64 where !Self.left.contains(Int32(number)) && inheritance.isDefault(Int32(number)) {
            sigaction(Int32(number), &action, nil)
        }
        // Waiting for a child needs it even if the caller ignores it.
        sigaction(SIGCHLD, &action, nil)
        // A line for the terminal may come while another group has it (`stty tostop`).
        signal(SIGTTOU, SIG_IGN)
    }

    /// Waits until one has come, and gives all that have come. Blocks.
    func next() -> [Arrival] {
        var interest = pollfd(fd: pipe.reading, events: Int16(POLLIN), revents: 0)
        poll(&interest, 1, -1)
        var arrivals: [Arrival] = []
        var arrival = Arrival(number: 0, code: 0, sender: 0)
        // Smaller than PIPE_BUF, so they come whole (pipe(7)).
        while read(pipe.reading, &arrival, MemoryLayout<Arrival>.size) == MemoryLayout<Arrival>.size { arrivals.append(arrival) }
        return arrivals
    }

    /// Stops this process as the command was stopped. Returns when it is continued.
    func stop(as number: Int32) {
        var former = sigaction()
        var standard = sigaction()
        sigaction(number, &standard, &former)
        // Threads of the runtime block signals, and a blocked one would stop nothing.
        var (only, mask) = (sigset_t(), sigset_t())
        sigemptyset(&only)
        sigaddset(&only, number)
        pthread_sigmask(SIG_UNBLOCK, &only, &mask)
        raise(number)
        pthread_sigmask(SIG_SETMASK, &mask, nil)
        sigaction(number, &former, nil)
    }
}

/// A pipe whose ends no program inherits that is started from here.
struct OwnPipe {
    let reading: Int32
    let writing: Int32

    /// - Throws: errno, if there are no descriptors left.
    init() throws(SpawnFailure) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SpawnFailure(code: errno) }
        for (index, end) in ends.enumerated() {
            // A process may be started without some of its first three descriptors; then these numbers are free, and are to stay so.
            ends[index] = end > STDERR_FILENO ? end : fcntl(end, F_DUPFD, STDERR_FILENO + 1)
            if end <= STDERR_FILENO { close(end) }
            _ = fcntl(ends[index], F_SETFD, FD_CLOEXEC)
        }
        (reading, writing) = (ends[0], ends[1])
    }
}
