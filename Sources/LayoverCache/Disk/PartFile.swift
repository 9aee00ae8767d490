import Glibc
import LayoverCrypto
import NIOCore

/// The file of a body that is still coming, and the digest of what is in it.
///
/// `@unchecked Sendable`: only the writer's one piece of work at a time touches it, and each is submitted after the
/// one before has ended.
final class PartFile: @unchecked Sendable {
    private let folder: CacheFolder
    private let name = CacheFolder.newName()
    private var descriptor: CInt = -1
    /// Made with the file.
    private var digest: SHA256?
    private(set) var byteCount = 0

    init(folder: CacheFolder) { self.folder = folder }

    func append(_ bytes: ByteBuffer) throws {
        if descriptor < 0 {
            digest = try SHA256()
            descriptor = open(
                folder.file(CacheFolder.partName(name)),
                O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0o600)
        }
        guard descriptor >= 0 else { throw writeFailure }
        try bytes.withUnsafeReadableBytes { source in
            try digest?.update(source)
            var done = 0
            while done < source.count {
                let rest = UnsafeRawBufferPointer(rebasing: source[done...])
                let count = write(descriptor, rest.baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw writeFailure }
                done += count
            }
            byteCount += done
        }
    }

    /// Of the last system call.
    private var writeFailure: CacheError { CacheFolder.failure("write into", folder.path) }

    /// Gives the file its name. It is not synced: a file that a power cut spoiled does not match its digest, and a
    /// cache may forget.
    ///
    /// - Returns: The body; without a name where it is empty.
    func complete() throws -> KeptBody {
        guard descriptor >= 0, let digest else { return KeptBody(file: nil, byteCount: 0, digest: []) }
        // Closes the file. If a step below fails, the part file is removed.
        defer { discard() }
        let body = KeptBody(file: name, byteCount: byteCount, digest: try digest.digest())
        guard rename(folder.file(CacheFolder.partName(name)), folder.file(name)) == 0 else {
            throw CacheFolder.failure("rename a file in", folder.path)
        }
        return body
    }

    func discard() {
        guard descriptor >= 0 else { return }
        close(descriptor)
        descriptor = -1
        unlink(folder.file(CacheFolder.partName(name)))
    }
}
