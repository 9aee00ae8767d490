import Foundation
import Glibc

/// Has the kernel answer the disk calls of a running process with an error, by strace(1), until it is taken away.
package final class DiskFault: Sendable {
    private let tracer: RunningProcess

    private init(_ tracer: RunningProcess) {
        self.tracer = tracer
    }

    /// Begins; every one of the calls fails once this returns.
    ///
    /// - Parameters:
    ///   - calls: Their names, with commas.
    ///   - error: The name of the errno.
    package static func begin(_ process: RunningProcess, calls: String, error: String) async throws -> DiskFault {
        let folder = try TemporaryFolder()
        let tracer = try Command(
            "strace",
            [
                "-f", "-p", String(process.pid), "-o", folder.file("trace").path, "-e", "trace=\(calls)",
                "-e", "inject=\(calls):error=\(error)", "-e", "signal=none",
            ]
        ).start(in: folder)
        try await FolderWatch(folder.url).first("strace holds the process") {
            if tracer.hasEnded { throw ProcessError("strace ended: \(tracer.errors)") }
            return tracer.errors.contains("attached") ? () : nil
        }
        return DiskFault(tracer)
    }

    /// How many calls it has spoiled.
    package var count: Int { tracer.folder.text(of: "trace").components(separatedBy: "(INJECTED)").count - 1 }

    /// Ends: the calls do again what they should.
    package func end() async {
        // SIGKILL, because a traced thread continues when its tracer is gone (ptrace(2)), and an orderly stop may
        // take long.
        tracer.signal(SIGKILL)
        _ = await tracer.result()
    }
}
