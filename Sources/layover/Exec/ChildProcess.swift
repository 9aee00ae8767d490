import Foundation
import Glibc

/// A child process. Foundation's `Process` makes every child the leader of a group of its own, which a command on a terminal
/// must not be.
struct ChildProcess {
    let pid: pid_t

    /// What differs from this process.
    struct Setting {
        /// Signals in their default disposition. No signal is blocked.
        var defaults: sigset_t
        /// Descriptors of this process that become 0, 1 and 2. Nil: the child gets 0, 1 and 2 of this process.
        var standardDescriptors: [Int32]?
        /// Whether the process leads a session of its own: no signal of a terminal reaches it.
        var leadsSession = false
        /// The file to run if it is another one than the first word names.
        var program: String?
    }

    /// Starts a program as execvp(3) does: looked for in PATH, and run by the shell if it is a script that names no interpreter.
    ///
    /// - Throws: errno.
    init(_ words: [String], environment: [String: String], _ setting: Setting) throws(SpawnFailure) {
        guard let program = setting.program ?? words.first else { throw SpawnFailure(code: EINVAL) }
        do {
            pid = try Self.spawn(program, words, environment, setting)
        } catch {
            guard error.code == ENOEXEC, let path = Self.path(of: program, environment) else { throw error }
            pid = try Self.spawn("/bin/sh", ["sh", path] + words.dropFirst(), environment, setting)
        }
    }

    /// The process's status if it has a new one. Never blocks.
    func status(_ options: Int32 = 0) -> WaitStatus? {
        var status: Int32 = 0
        return waitpid(pid, &status, WNOHANG | options) == pid ? WaitStatus(status) : nil
    }

    /// Waits for its end. Blocks.
    func waitForEnd() -> WaitStatus {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return WaitStatus(status)
    }

    /// `POSIX_SPAWN_SETSID`, which <spawn.h> defines only with `_GNU_SOURCE`.
    private static let setsid: Int32 = 0x80

    private static func spawn(
        _ program: String, _ words: [String], _ environment: [String: String], _ setting: Setting
    ) throws(SpawnFailure) -> pid_t {
        var attributes = posix_spawnattr_t()
        var actions = posix_spawn_file_actions_t()
        posix_spawnattr_init(&attributes)
        posix_spawn_file_actions_init(&actions)
        defer {
            posix_spawnattr_destroy(&attributes)
            posix_spawn_file_actions_destroy(&actions)
        }
        // Threads of the runtime block signals, and the mask outlives exec: Ctrl-C would not reach the program.
        var (none, defaults) = (sigset_t(), setting.defaults)
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        let session = setting.leadsSession ? Self.setsid : 0
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | session))
        if let descriptors = setting.standardDescriptors {
            for (number, descriptor) in descriptors.enumerated() { posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number)) }
        }
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var pid: pid_t = 0
        let code = posix_spawnp(&pid, program, &actions, &attributes, &arguments, &variables)
        guard code == 0 else { throw SpawnFailure(code: code) }
        return pid
    }

    /// Where execvp(3) finds a program.
    private static func path(of program: String, _ environment: [String: String]) -> String? {
        guard !program.contains("/") else { return program }
        let folders = (environment["PATH"] ?? "/bin:/usr/bin").split(separator: ":", omittingEmptySubsequences: false)
        return folders.map { ($0.isEmpty ? "." : $0) + "/" + program }.first { access($0, X_OK) == 0 }
    }
}

/// Why a program was not started.
struct SpawnFailure: Error {
    /// errno.
    let code: Int32

    /// Exit codes of shells: 127 not found, 126 not executable.
    var exitCode: Int32 { code == ENOENT ? 127 : 126 }

    var message: String { String(cString: strerror(code)) }
}

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
