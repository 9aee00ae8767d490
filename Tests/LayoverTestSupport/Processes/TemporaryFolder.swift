package import Foundation
import Glibc

/// A folder of one test, removed with its last user.
package final class TemporaryFolder: Sendable {
    package let url: URL

    package init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("layover-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    package func file(_ name: String) -> URL {
        url.appendingPathComponent(name)
    }

    /// Writes a text file and gives its path.
    @discardableResult
    package func write(_ text: String, to name: String) throws -> String {
        let file = file(name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        return file.path
    }

    package func text(of name: String) -> String {
        (try? String(contentsOf: file(name), encoding: .utf8)) ?? ""
    }
}

/// The permissions of a file or a folder.
package func modeOfFile(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
}

/// Tells when something in a folder was written, renamed or removed, by inotify(7).
///
/// Only the wish to look again comes from the kernel; what counts is what `condition` reads. So it does not matter
/// how many events were merged, and nothing that happened before the watch began is missed.
package struct FolderWatch: Sendable {
    private let folder: URL

    package init(_ folder: URL) {
        self.folder = folder
    }

    /// Waits until `condition` gives a value, looking once at the start and after each change in the folder.
    package func first<Value: Sendable>(
        _ what: String, within limit: Duration = .seconds(60), _ condition: @escaping @Sendable () throws -> Value?
    ) async throws -> Value {
        let path = folder.path
        return try await onOwnThread {
            let watch = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
            guard watch >= 0 else { throw ProcessError("inotify_init1 failed with errno \(errno).") }
            defer { close(watch) }
            guard inotify_add_watch(watch, path, UInt32(IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_DELETE)) >= 0 else {
                throw ProcessError("Cannot watch \(path): errno \(errno).")
            }
            let deadline = Deadline(in: limit)
            while true {
                if let value = try condition() { return value }
                if deadline.hasPassed { throw ProcessError("\(what): not within \(limit).") }
                Self.waitForChange(watch, deadline)
            }
        }
    }

    private static func waitForChange(_ watch: Int32, _ deadline: Deadline) {
        var interest = pollfd(fd: watch, events: Int16(POLLIN), revents: 0)
        _ = poll(&interest, 1, deadline.millisecondsLeft)
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
            while read(watch, buffer.baseAddress, buffer.count) > 0 {}
        }
    }
}

/// Descriptor of a file of a folder that this process has open, once the file has so many bytes. It may have no name (proc(5)).
package func openFile(in folder: String, holding byteCount: Int) async throws -> CInt {
    try await firstValue("an open file of \(byteCount) bytes in \(folder)") {
        // Tests that ran before may have left many descriptors.
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            guard let descriptor = CInt(name),
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)"),
                target.hasPrefix(folder + "/")
            else { continue }
            var facts = stat()
            if fstat(descriptor, &facts) == 0, Int(facts.st_size) >= byteCount { return descriptor }
        }
        return nil
    }
}

/// Finds the programs in `Tests/Fixtures` and `scripts` from where this file lies in the checkout.
package enum Fixtures {
    package static func path(_ name: String) -> String { path(of: name, in: "Tests/Fixtures") }

    package static func script(_ name: String) -> String { path(of: name, in: "scripts") }

    private static func path(of name: String, in part: String) -> String {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 1...4 { folder.deleteLastPathComponent() }
        return folder.appendingPathComponent(part).appendingPathComponent(name).path
    }
}
