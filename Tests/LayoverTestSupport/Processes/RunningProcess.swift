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
