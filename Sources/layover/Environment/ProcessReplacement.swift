import Foundation

/// Lets another program take this process's place (exec(3)).
enum ProcessReplacement {
    /// Returns only where it failed, with errno.
    static func replace(with words: [String], environment: [String: String], _ inheritance: Inheritance) -> Int32 {
        for (name, value) in environment { setenv(name, value, 1) }
        inheritance.restore()
        // Threads of the runtime block signals, and the mask outlives exec: Ctrl-C would not reach the program.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        fflush(nil)
        LogLines.standardError.flush()
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        defer { for argument in arguments { free(argument) } }
        arguments.append(nil)
        guard let program = words.first else { return EINVAL }
        execvp(program, arguments)
        return errno
    }
}
