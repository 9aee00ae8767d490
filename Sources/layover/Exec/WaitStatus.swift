import Glibc

/// What wait(2) tells of a child.
enum WaitStatus: Equatable {
    case exited(Int32)
    /// A signal ended it.
    case killed(Int32)
    case stopped(Int32)
    case continued

    init(_ status: Int32) {
        let number = status & 0x7F
        self =
            switch (status, number) {
            case (0xFFFF, _): .continued
            case (_, 0): .exited(status >> 8 & 0xFF)
            case (_, 0x7F): .stopped(status >> 8 & 0xFF)
            case _: .killed(number)
            }
    }
}

/// How a command ended.
enum CommandEnding: Equatable {
    case exited(Int32)
    case killed(Int32)

    /// Ends this process in the same way, so that a shell sees of `exec` what it would have seen of the command: `$?` is 128 + n
    /// after signal n, and a loop in a script ends when Ctrl-C ended the command in it.
    func passOn() -> Never {
        LogLines.standardError.flush()
        switch self {
        case .exited(let code): exit(code)
        case .killed(let number):
            // The core file is the command's own.
            var limit = rlimit(rlim_cur: 0, rlim_max: 0)
            setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
            signal(number, SIG_DFL)
            var only = sigset_t()
            sigemptyset(&only)
            sigaddset(&only, number)
            pthread_sigmask(SIG_UNBLOCK, &only, nil)
            raise(number)
            // A signal that ends no process did not end the command either.
            _exit(128 + number)
        }
    }
}
