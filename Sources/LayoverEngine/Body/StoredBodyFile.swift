#if canImport(Glibc)
import Glibc
#endif

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
