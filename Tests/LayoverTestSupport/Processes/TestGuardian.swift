import Foundation
import Glibc

/// Ends what the tests of this process have started, once this process is gone, however it went: by its end, a crash,
/// or SIGKILL.
///
/// It is a process of its own, in a group of its own (Foundation sees to that), that waits for the end of a pipe whose other end only this
/// process has. PR_SET_PDEATHSIG would not do: it tells of the end of the *thread* that made the child (prctl(2)), and
/// tests start children from threads that come and go; nor do grandchildren inherit it. A list of process numbers would
/// not do either: what was started a moment before a crash is not in it. So a variable that names this process is set in the
/// environment of every child. Its descendants inherit it, and the guardian kills all processes that have it.
enum TestGuardian {
    /// The mark in the environment of every process that a test starts. Starts the guardian if there is none yet.
    static let mark: (name: String, value: String) = {
        let mark = (name: "TEST_PROCESSES_OF", value: "\(getpid())-\(UUID().uuidString)")
        start(for: "\(mark.name)=\(mark.value)")
        return mark
    }()

    /// Ends them until nobody is left: one that is just being made may be found only the next time (fork(2)).
    private static let script = """
        trap '' INT TERM HUP QUIT
        cat >/dev/null
        for round in 1 2 3; do
            while pids=$(grep -lzsxF "$1" /proc/[0-9]*/environ | cut -d / -f 3) && [ -n "$pids" ]; do
                kill -KILL $pids 2>/dev/null
                sleep 0.05
            done
            sleep 0.05
        done
        """

    /// Swift's Glibc module does not show pipe2(2), so it is looked up by name.
    private typealias Pipe2 = @convention(c) (_ ends: UnsafeMutablePointer<Int32>?, _ flags: Int32) -> Int32

    private static func start(for mark: String) {
        var ends: [Int32] = [-1, -1]
        // Nobody else may have the writing end, or its end would not be that of this process.
        guard let symbol = dlsym(nil, "pipe2"), unsafeBitCast(symbol, to: Pipe2.self)(&ends, O_CLOEXEC) == 0 else { return }
        let guardian = Process()
        guardian.executableURL = URL(filePath: "/usr/bin/env")
        // The mark is an argument: in its environment it would end itself.
        guardian.arguments = ["sh", "-c", script, "guardian", mark]
        guardian.currentDirectoryURL = URL(filePath: "/")
        guardian.standardInput = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        guardian.standardOutput = FileHandle.nullDevice
        guardian.standardError = FileHandle.nullDevice
        // The writing end stays open as long as this process lives.
        if (try? guardian.run()) == nil { close(ends[1]) }
    }
}
