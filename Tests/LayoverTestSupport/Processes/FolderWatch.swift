package import Foundation
import Glibc

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
        _ what: String, within limit: Duration = .seconds(30), _ condition: @escaping @Sendable () throws -> Value?
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
