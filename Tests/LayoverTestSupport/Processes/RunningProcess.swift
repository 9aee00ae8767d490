import Foundation
package import Glibc
import Synchronization

/// A process that a test started. Its output is written to files, so that a full pipe can never stop it.
///
/// It is killed with its last user, and with the test process, however that ends (`TestGuardian`): no test leaves a
/// process behind.
package final class RunningProcess: Sendable {
    package let pid: pid_t
    package let folder: TemporaryFolder
    private let ending: Ending

    /// - Parameter folder: Where its output goes, and a file `ended` once it has ended; nil = a new one.
    package init(_ command: Command, in folder: TemporaryFolder? = nil) throws {
        let folder = try folder ?? TemporaryFolder()
        self.folder = folder
        ending = Ending()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command.words
        process.environment = command.wholeEnvironment(stateIn: folder.url.path)
        process.currentDirectoryURL = command.folder ?? folder.url
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try Self.emptyFile(folder.file("output"))
        process.standardError = try Self.emptyFile(folder.file("errors"))
        process.terminationHandler = { [ending, weak folder] process in
            let status = process.terminationStatus
            ending.reached(process.terminationReason == .exit ? status : -status)
            // Wakes whoever watches the folder for something the process was to write. Where nobody has the folder
            // any more it is being removed, and a new file in it would keep it from that.
            if let folder { try? Data().write(to: folder.file("ended")) }
        }
        try process.run()
        pid = process.processIdentifier
    }

    deinit {
        signal(SIGKILL)
        // Ends the children too: Foundation makes the process the leader of a group, whose number stays taken as long
        // as the group has members. A tracer leaves its program behind otherwise.
        kill(-pid, SIGKILL)
    }

    package func signal(_ number: Int32) {
        // A pid whose process has ended may belong to somebody else by now.
        if ending.status == nil { kill(pid, number) }
    }

    package var output: String { folder.text(of: "output") }
    package var errors: String { folder.text(of: "errors") }
    package var hasEnded: Bool { ending.status != nil }

    /// Waits until it has printed this text; throws if it ends without it.
    package func prints(_ text: String) async throws {
        _ = try await FolderWatch(folder.url).first("\(text) is printed") { [self] in
            // Read before the output: a process that ended has printed all of it.
            let hasEnded = hasEnded
            let isPrinted = output.contains(text)
            if hasEnded, !isPrinted { throw ProcessError("it ended: \(output)\(errors)") }
            return isPrinted ? true : nil
        }
    }

    /// Waits for its end. It is killed at the deadline, so this always returns.
    package func result(within limit: Duration = .seconds(60)) async -> CommandResult {
        let timedOut = Mutex(false)
        let watchdog = Task { [self] in
            try await Task.sleep(for: limit)
            timedOut.withLock { $0 = true }
            signal(SIGKILL)
        }
        let status = await ending.wait()
        watchdog.cancel()
        return CommandResult(
            status: status, output: output, errors: errors, timedOut: timedOut.withLock { $0 })
    }

    private static func emptyFile(_ url: URL) throws -> FileHandle {
        try Data().write(to: url)
        return try FileHandle(forWritingTo: url)
    }
}

extension RunningProcess {
    /// Sets how many descriptors it may have from now on, by prlimit(1). Those that it has stay. Blocks.
    ///
    /// - Returns: The former limit.
    @discardableResult
    package func setDescriptorLimit(_ count: Int) throws -> Int {
        let before = try descriptorLimit()
        let tool = Process()
        tool.executableURL = URL(fileURLWithPath: "/usr/bin/prlimit")
        // Behind the colon stands the hard limit, which stays.
        tool.arguments = ["--pid", String(pid), "--nofile=\(count):"]
        try tool.run()
        tool.waitUntilExit()
        guard tool.terminationStatus == 0, try descriptorLimit() == count else {
            throw ProcessError("prlimit(1) ended with \(tool.terminationStatus).")
        }
        return before
    }

    /// From `/proc/PID/limits` (proc(5)): name, soft limit, hard limit, unit.
    private func descriptorLimit() throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(pid)/limits", encoding: .utf8)
        let name = "Max open files"
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) }),
            let soft = line.dropFirst(name.count).split(separator: " ").first.flatMap({ Int($0) })
        else { throw ProcessError("No limit of descriptors in /proc/\(pid)/limits.") }
        return soft
    }
}

/// How a process ended and what it printed.
package struct CommandResult: Sendable, CustomStringConvertible {
    /// The exit code; of a process that a signal ended, minus the signal's number.
    package var status: Int32
    package var output: String
    package var errors: String
    /// True if the program was killed at its deadline.
    package var timedOut: Bool

    package var description: String {
        "ended with \(status)\(timedOut ? " (killed at its deadline)" : "")\noutput: \(output.prefix(2000))\nerrors: \(errors.suffix(2000))"
    }
}

/// Why a process of a test did not do what it was started for.
package struct ProcessError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

/// The end of a process: told once, waited for by any number of tasks.
final class Ending: Sendable {
    private enum State {
        case running([CheckedContinuation<Int32, Never>])
        case ended(Int32)
    }

    private let state = Mutex(State.running([]))

    var status: Int32? {
        state.withLock { state in
            if case .ended(let status) = state { status } else { nil }
        }
    }

    func reached(_ status: Int32) {
        let waiting = state.withLock { state -> [CheckedContinuation<Int32, Never>] in
            guard case .running(let waiting) = state else { return [] }
            state = .ended(status)
            return waiting
        }
        for continuation in waiting { continuation.resume(returning: status) }
    }

    func wait() async -> Int32 {
        await withCheckedContinuation { continuation in
            let status = state.withLock { state -> Int32? in
                switch state {
                case .running(let waiting):
                    state = .running(waiting + [continuation])
                    return nil
                case .ended(let status):
                    return status
                }
            }
            if let status { continuation.resume(returning: status) }
        }
    }
}
