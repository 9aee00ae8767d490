import Glibc
import Testing

@testable import layover

struct WaitStatusTests {
    /// As wait(2) encodes them on Linux.
    @Test(
        arguments: [
            (Int32(0), WaitStatus.exited(0)), (3 << 8, .exited(3)), (255 << 8, .exited(255)), (SIGTERM, .killed(SIGTERM)),
            (SIGSEGV | 0x80, .killed(SIGSEGV)), (SIGTSTP << 8 | 0x7F, .stopped(SIGTSTP)), (0xFFFF, .continued),
        ] as [(Int32, WaitStatus)])
    func statusIsRead(status: Int32, expected: WaitStatus) {
        #expect(WaitStatus(status) == expected)
    }
}

struct CommandSignalsTests {
    private static let command: pid_t = 42

    @Test(
        arguments: [
            // kill(1), sigqueue(3), tgkill(2).
            (SIGTERM, Int32(0), pid_t(7), true), (SIGHUP, -1, 7, true), (SIGUSR1, -6, 7, true),
            // Ctrl-C and the end of the connection come from the kernel, to the whole group.
            (SIGINT, CommandSignals.byKernel, 0, false), (SIGHUP, CommandSignals.byKernel, 0, false),
            // The command signals its own group.
            (SIGTERM, 0, command, false), (SIGCHLD, 0, 7, false),
        ] as [(Int32, Int32, pid_t, Bool)])
    func onlySignalsOfOtherProcessesArePassedOn(number: Int32, code: Int32, sender: pid_t, expected: Bool) {
        let arrival = CommandSignals.Arrival(number: number, code: code, sender: sender)
        #expect(arrival.isPassedOn(to: Self.command) == expected)
    }
}

struct SpawnFailureTests {
    @Test(arguments: [(ENOENT, Int32(127)), (EACCES, 126), (ENOEXEC, 126), (E2BIG, 126)] as [(Int32, Int32)])
    func exitCodeIsThatOfShells(code: Int32, expected: Int32) {
        #expect(SpawnFailure(code: code).exitCode == expected)
    }
}
