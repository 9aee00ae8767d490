import Glibc

/// Gives nameless spool files their names, so that they outlive the process.
enum SpoolNaming {
    enum Outcome {
        case named
        /// The disk could not name it. It may be asked again.
        case refused
        /// A sync failed. The kernel reports that once and may have thrown away what it could not write, so a second sync that
        /// succeeds says nothing of these bytes (fsync(2), "Linux's fsync() error reporting").
        case notSynced
    }

    /// Syncs the file, names it, and syncs the folder; only then it is there after a power cut (fsync(2)).
    ///
    /// - Returns: Whether all of that was done. If not, errno tells why, and the file stays nameless.
    static func name(_ descriptor: CInt, _ name: String, in folder: FolderSync) -> Outcome {
        guard fdatasync(descriptor) == 0 else { return .notSynced }
        let failureCount = folder.failureCount
        let path = folder.path + "/" + name
        // open(2) on O_TMPFILE: this is how a file without a name is given one.
        let isLinked =
            linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0
            || copy(descriptor, to: path)
        guard isLinked, folder.sync(failureCount: failureCount) else {
            let code = errno
            if isLinked { unlink(path) }
            errno = code
            return isLinked ? .notSynced : .refused
        }
        return .named
    }

    /// Where the file system cannot name it afterwards.
    private static func copy(_ descriptor: CInt, to path: String) -> Bool {
        let target = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard target >= 0 else { return false }
        defer { close(target) }
        var offset: off_t = 0
        while true {
            let count = sendfile(target, descriptor, &offset, 1 << 20)
            if count < 0, errno == EINTR { continue }
            if count == 0, fdatasync(target) == 0 { return true }
            guard count > 0 else {
                let code = errno
                unlink(path)
                errno = code
                return false
            }
        }
    }
}

/// Why a body that was kept cannot be sent.
package enum StoredBodyFault: Sendable, Hashable {
    /// The file is missing or incomplete, for good. A complete sentence.
    case lost(String)
    /// The system cannot open it now. A complete sentence.
    case unreadable(String)
}

/// Opens the files of bodies that the store names.
enum StoredBodyFile {
    /// What keeps a file from being opened for the time being (open(2)).
    private static let passing: Set<CInt> = [EMFILE, ENFILE, ENOMEM, EIO, EINTR, EAGAIN, ESTALE, ETIMEDOUT]

    /// - Returns: -1, and `errno`, when it cannot be opened. A name of another form counts as missing: it must not
    ///   lead out of the folder.
    static func open(_ name: String, in folder: String) -> CInt {
        guard StoredBody.isFileName(name) else {
            errno = ENOENT
            return -1
        }
        return Glibc.open(folder + "/" + name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    }

    /// What is wrong with the file right after `open`; nil if it is whole.
    static func fault(of descriptor: CInt, name: String, byteCount: Int) -> StoredBodyFault? {
        let name = StoredBody.isFileName(name) ? name : "?"
        guard descriptor >= 0 else { return fault(errno, name) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { return fault(errno, name) }
        let count = facts.st_mode & S_IFMT == S_IFREG ? Int(facts.st_size) : 0
        if count == byteCount { return nil }
        return .lost("The body file \(name) is incomplete: it has \(count) of \(byteCount) bytes.")
    }

    private static func fault(_ code: CInt, _ name: String) -> StoredBodyFault {
        if code == ENOENT { return .lost("The body file \(name) is missing from the spool folder.") }
        let text = "The body file \(name) cannot be opened: \(String(cString: strerror(code)))."
        return passing.contains(code) ? .unreadable(text) : .lost(text)
    }
}
