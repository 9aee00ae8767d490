#if canImport(Glibc)
import Glibc
#endif

/// Reads and writes small files as a whole: keys, tokens, certificates, settings.
///
/// A reader finds the old content or the new content, never a part of it, also after a power cut. Reading follows symbolic
/// links; writing replaces a link and leaves the file behind it as it is.
package enum PrivateFile {
    /// The processes that may write one file at the same time.
    package enum Writers: Sendable {
        /// Only the caller, who holds a lock. The draft is `<path>.new`, so the next write removes what a killed process left.
        case one
        /// Any process. The draft is `<path>.<random digits>.new`. A process that is killed leaves it behind.
        case several
    }

    /// The bytes of a file and its permissions, which belong to the same open file.
    package struct Content: Sendable {
        package let bytes: [UInt8]
        /// The lowest twelve bits of `st_mode` (inode(7)).
        package let mode: UInt32
    }

    // MARK: Reading

    /// Reads a whole file.
    ///
    /// - Parameters:
    ///   - byteCountMax: A longer file is an error. Default: 1 MiB.
    ///   - acceptsPipes: True accepts a pipe or a device too, and waits for its end. Default: false.
    /// - Throws: `PrivateFileError` with the step `read`, `kind` or `size`. The code of a missing file is ENOENT.
    package static func read(
        _ path: String, byteCountMax: Int = 1 << 20, acceptsPipes: Bool = false
    ) throws(PrivateFileError) -> Content {
        // The byte behind the limit shows that the file is longer.
        let content = try content(of: path, byteCountMax: byteCountMax + 1, acceptsPipes: acceptsPipes)
        guard content.bytes.count <= byteCountMax else { throw PrivateFileError(.size, path, code: EFBIG) }
        return content
    }

    /// Reads the first bytes of a file. There are fewer of them if the file is shorter.
    ///
    /// - Throws: `PrivateFileError` with the step `read` or `kind`.
    package static func head(of path: String, byteCount: Int) throws(PrivateFileError) -> [UInt8] {
        try content(of: path, byteCountMax: byteCount, acceptsPipes: false).bytes
    }

    private static func content(
        of path: String, byteCountMax: Int, acceptsPipes: Bool
    ) throws(PrivateFileError) -> Content {
        // Without O_NONBLOCK the open of a pipe waits for a writer (fifo(7)).
        let flags = O_RDONLY | O_CLOEXEC | (acceptsPipes ? 0 : O_NONBLOCK)
        let file = retried { Glibc.open(path, flags) }
        guard file >= 0 else { throw PrivateFileError(.read, path) }
        defer { Glibc.close(file) }
        var facts = stat()
        guard fstat(file, &facts) == 0 else { throw PrivateFileError(.read, path) }
        if !acceptsPipes { try check(facts, path) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: min(byteCountMax, 64 << 10))
        while bytes.count < byteCountMax {
            let count = Glibc.read(file, &chunk, min(chunk.count, byteCountMax - bytes.count))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw PrivateFileError(.read, path) }
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        return Content(bytes: bytes, mode: facts.st_mode & 0o7777)
    }

    // MARK: Writing

    /// Replaces a file, or makes it.
    ///
    /// - Parameters:
    ///   - mode: Permissions of the new file, whatever the umask is. Nil: the umask decides. Default: 0600.
    ///   - writers: Default: `several`.
    ///   - isDurable: Whether the file is on disk when this returns. False is for what is worth nothing after a restart of the machine.
    ///     Default: true.
    /// - Throws: `PrivateFileError`. The old file is in its place then and no draft is left, unless the step is `openFolder` or
    ///   `syncFolder`: the new file is in its place then, but a power cut may bring the old one back.
    package static func write(
        _ bytes: [UInt8], to path: String, mode: UInt32? = 0o600, writers: Writers = .several, isDurable: Bool = true
    ) throws(PrivateFileError) {
        try Draft(bytes, for: path, mode: mode, writers: writers, isDurable: isDurable).publish()
    }

    /// Removes drafts that killed processes have left. Only for a file that no other process writes now.
    package static func removeDrafts(of path: String) {
        let folder = PrivateFolder.of(path)
        let name = path.split(separator: "/").last.map { "\($0)." } ?? ""
        for found in PrivateFolder.names(in: folder) ?? [] where found.hasPrefix(name) && found.hasSuffix(".new") {
            unlink("\(folder)/\(found)")
        }
    }

    /// Makes an empty file with mode 0600 if it is missing. Removes the rights of others from a file that exists.
    ///
    /// A symbolic link is refused. The name is on disk when this returns.
    ///
    /// - Throws: `PrivateFileError` with the step `create`, `kind`, `mode`, `openFolder` or `syncFolder`.
    package static func make(_ path: String) throws(PrivateFileError) {
        let file = retried { Glibc.open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600) }
        guard file >= 0 else { throw PrivateFileError(.create, path) }
        defer { Glibc.close(file) }
        var facts = stat()
        guard fstat(file, &facts) == 0 else { throw PrivateFileError(.create, path) }
        try check(facts, path)
        if facts.st_mode & 0o077 != 0, fchmod(file, 0o600) != 0 { throw PrivateFileError(.mode, path) }
        try PrivateFolder.sync(PrivateFolder.of(path))
    }

    /// Sets mode 0600 if others have rights. Does nothing if the file is missing, or belongs to another user and this one is not root.
    package static func restrict(_ path: String) {
        let file = retried { Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        guard file >= 0 else { return }
        defer { Glibc.close(file) }
        var facts = stat()
        if fstat(file, &facts) == 0, facts.st_mode & 0o077 != 0 { fchmod(file, 0o600) }
    }

    /// Checks that `write` may replace what is at the path: rename(2) would replace a device or a pipe too.
    ///
    /// - Throws: `PrivateFileError` with the step `kind` if a folder, a pipe, a socket or a device is there, or a link to one, or a link of
    ///   the system: `/dev/stdout` may lead to a regular file, and the link would be replaced.
    package static func checkTarget(_ path: String) throws(PrivateFileError) {
        var facts = stat()
        let isOfSystem = path.hasPrefix("/dev/") || path.hasPrefix("/proc/")
        if isOfSystem, lstat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFLNK { throw PrivateFileError(.kind, path, code: EINVAL) }
        if stat(path, &facts) == 0 { try check(facts, path) }
    }

    private static func check(_ facts: stat, _ path: String) throws(PrivateFileError) {
        let kind = facts.st_mode & S_IFMT
        guard kind == S_IFREG else { throw PrivateFileError(.kind, path, code: kind == S_IFDIR ? EISDIR : EINVAL) }
    }

    /// Repeats a call that a signal interrupted.
    static func retried(_ call: () -> CInt) -> CInt {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }
}

/// Why a private file or folder cannot be read or written.
package struct PrivateFileError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Step: Sendable, Hashable {
        case read
        /// It is a folder, or another kind of file than a regular one.
        case kind
        /// It is longer than the limit.
        case size
        /// An empty file or a draft cannot be made.
        case create
        case write, owner, mode, sync, rename, makeFolder, openFolder, syncFolder
    }

    package let step: Step
    /// The file or folder that the step concerns: the draft for `create`, `write`, `owner`, `mode` and `sync` of a write.
    package let path: String
    /// The value of errno (errno(3)).
    package let code: Int32

    /// - Parameter code: Default: errno, so the error is made right after the call that failed.
    init(_ step: Step, _ path: String, code: Int32 = errno) { (self.step, self.path, self.code) = (step, path, code) }

    /// The text of the code, without a full stop.
    package var reason: String {
        if step == .kind, code != EISDIR { return "it is not a regular file" }
        return strerror(code).map { String(cString: $0) } ?? "error \(code)"
    }

    /// The failed step as the words between "Cannot" and the path.
    package var action: String {
        switch step {
        case .read, .size: "read"
        case .kind: "use"
        case .create: "make"
        case .write: "write"
        case .owner: "change the owner of"
        case .mode: "change the mode of"
        case .sync: "sync"
        case .rename: "replace"
        case .makeFolder: "make the folder"
        case .openFolder: "open the folder"
        case .syncFolder: "sync the folder"
        }
    }

    /// A complete sentence.
    package var description: String { "Cannot \(action) \(path): \(reason)." }
}
