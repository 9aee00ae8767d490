import Glibc

/// The command of `exec` as a child, in the process group of this process: the terminal, its signals and job control reach it as they
/// would without a parent between. When it is stopped, so is this process, because a shell looks at this one.
struct ForegroundCommand {
    private let child: ChildProcess
    private let signals: CommandSignals

    init(_ words: [String], environment: [String: String], _ inheritance: Inheritance) throws(SpawnFailure) {
        // First, so that none of them is lost.
        signals = try CommandSignals(inheritance)
        inheritance.closeOwnDescriptorsOnExec()
        child = try ChildProcess(words, environment: environment, .init(defaults: inheritance.defaultSignals))
    }

    /// Waits for its end. Blocks.
    ///
    /// - Parameter otherChild: Called when any child may have changed its state.
    func wait(_ otherChild: () -> Void) -> CommandEnding {
        while true {
            let arrivals = signals.next()
            for arrival in arrivals where arrival.isPassedOn(to: child.pid) { kill(child.pid, arrival.number) }
            while let status = child.status(WUNTRACED | WCONTINUED) {
                switch status {
                case .exited(let code): return .exited(code)
                case .killed(let number): return .killed(number)
                case .stopped(let number): follow(number)
                case .continued: break
                }
            }
            otherChild()
        }
    }

    /// Stops with the command, and goes on with it.
    private func follow(_ number: Int32) {
        let group = getpgid(child.pid)
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
        // A shell as the command takes the terminal for a group of its own.
        let hadTerminal = terminal >= 0 && group != getpgrp() && tcgetpgrp(terminal) == group
        signals.stop(as: number)
        if hadTerminal { tcsetpgrp(terminal, group) }
        if terminal >= 0 { close(terminal) }
        // A shell continues the whole group, so it mostly runs already.
        if child.status(WCONTINUED) != .continued { kill(group == getpgrp() ? child.pid : -group, SIGCONT) }
    }
}
