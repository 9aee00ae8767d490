import Foundation

/// The signals of the thread that writes the log.
enum LogSignals {
    /// Leaves all signals to other threads. Above all SIGPIPE, which goes to the thread that wrote (signal(7)): blocked
    /// there, a reader that has gone is an error code, in commands that leave the signal as it is too.
    static func blockAll() {
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, nil)
    }
}
