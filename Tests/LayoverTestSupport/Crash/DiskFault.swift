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

/// A tmpfs of its own for a store, which can be filled and emptied. Only root can mount one.
package final class SmallDisk: Sendable {
    private let folder: TemporaryFolder
    package let path: String

    package init(byteCount: Int) throws {
        folder = try TemporaryFolder()
        path = folder.url.path
        guard mount("tmpfs", path, "tmpfs", 0, "size=\(byteCount),mode=0700") == 0 else {
            throw ProcessError("Cannot mount a tmpfs: errno \(errno).")
        }
    }

    deinit {
        umount2(path, Int32(MNT_DETACH))
    }

    /// Takes what is left, to the last page, and throws if something is left all the same.
    ///
    /// - Parameter leaving: Bytes that stay free.
    package func fill(leaving: Int = 0) throws {
        let file = open(ballast, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw ProcessError("Cannot fill the disk: errno \(errno).") }
        defer { close(file) }
        let page = [UInt8](repeating: 0x2E, count: 4096)
        while write(file, page, page.count) > 0 || errno == EINTR {}
        var space = statvfs()
        guard errno == ENOSPC, statvfs(path, &space) == 0, space.f_bfree == 0 else {
            throw ProcessError("The disk is not full: errno \(errno), \(space.f_bfree) blocks left.")
        }
        guard leaving > 0 else { return }
        var facts = stat()
        fstat(file, &facts)
        ftruncate(file, max(0, facts.st_size - off_t(leaving)))
    }

    package func empty() throws {
        try FileManager.default.removeItem(atPath: ballast)
    }

    /// Only while no file on it is open for writing.
    package func setReadOnly(_ isReadOnly: Bool) throws {
        let flags = UInt(MS_REMOUNT) | (isReadOnly ? UInt(MS_RDONLY) : 0)
        guard mount("tmpfs", path, "tmpfs", flags, nil) == 0 else {
            throw ProcessError("Cannot mount the disk anew: errno \(errno).")
        }
    }

    private var ballast: String { path + "/ballast" }

    /// The reason why this machine cannot have such a disk; nil if it can.
    package static func refusal() -> String? {
        getuid() == 0 ? nil : "only root can mount a small file system"
    }
}
