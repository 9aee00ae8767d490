import Foundation
import Glibc
import LayoverTestSupport
import Testing

/// No test leaves a process behind, not even one that crashes.
@Suite struct TestGuardianTests {
    /// Where the process that crashes writes whom it has started.
    fileprivate static func file(of pid: pid_t) -> URL {
        FileManager.default.temporaryDirectory.appending(path: "layover-crash-\(pid)")
    }

    /// True if a process runs; a zombie does not count.
    private static func isRunning(_ pid: Int32) -> Bool {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            let state = text.split(separator: ")").last?.split(separator: " ").first
        else { return false }
        return state != "Z" && state != "X"
    }

    private static func waitForEnd(of pids: [Int32]) async throws {
        try await onOwnThread {
            let deadline = ContinuousClock.now + .seconds(45)
            while pids.contains(where: isRunning), ContinuousClock.now < deadline { sched_yield() }
        }
        #expect(pids.filter(isRunning) == [])
    }

    @Test func processesEndWhenTheTestProcessCrashes() async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) {
            let origin = try TLSOrigin(certificates: try TestCertificates(), answer: "")
            let shell = try Command("sh", ["-c", "sleep 600 & echo $! >&2; wait"]).start()
            while shell.errors.isEmpty { sched_yield() }
            let grandchild = shell.errors.trimmingCharacters(in: .whitespacesAndNewlines)
            try Data("\(origin.pid) \(shell.pid) \(grandchild)".utf8).write(
                to: TestGuardianTests.file(of: getppid()), options: .atomic)
            kill(getpid(), SIGKILL)
        }
        let file = Self.file(of: getpid())
        defer { try? FileManager.default.removeItem(at: file) }
        let pids = try String(contentsOf: file, encoding: .utf8).split(separator: " ").compactMap { Int32($0) }
        #expect(pids.count == 3)
        try await Self.waitForEnd(of: pids)
    }

    @Test func processesEndWithTheirLastUser() async throws {
        let pids = try await Self.startAndForget()
        try await Self.waitForEnd(of: pids)
    }

    private static func startAndForget() async throws -> [Int32] {
        let origin = try TLSOrigin(certificates: try TestCertificates(), answer: "")
        let shell = try Command("sh", ["-c", "sleep 600 & echo $! >&2; wait"]).start()
        while shell.errors.isEmpty { sched_yield() }
        let grandchild = Int32(shell.errors.trimmingCharacters(in: .whitespacesAndNewlines))
        let pids = [origin.pid, shell.pid, try #require(grandchild)]
        // These are their users until here.
        withExtendedLifetime((origin, shell)) { #expect(pids.allSatisfy(isRunning)) }
        return pids
    }
}
