import Crypto
import Glibc
import NIOCore

/// The file of a body that is still coming, and the digest of what is in it.
///
/// `@unchecked Sendable`: only the writer's one piece of work at a time touches it, and each is submitted after the
/// one before has ended.
final class PartFile: @unchecked Sendable {
    private let folder: CacheFolder
    private let name = CacheFolder.newName()
    private var descriptor: CInt = -1
    private var digest = SHA256()
    private(set) var byteCount = 0

    init(folder: CacheFolder) { self.folder = folder }

    /// - Returns: Whether all of it was written.
    func append(_ bytes: ByteBuffer) -> Bool {
        if descriptor < 0 {
            descriptor = open(
                folder.file(CacheFolder.partName(name)),
                O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0o600)
        }
        guard descriptor >= 0 else { return false }
        return bytes.withUnsafeReadableBytes { source in
            digest.update(bufferPointer: source)
            var done = 0
            while done < source.count {
                let rest = UnsafeRawBufferPointer(rebasing: source[done...])
                let count = write(descriptor, rest.baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                done += count
            }
            byteCount += done
            return true
        }
    }

    /// Gives the file its name. It is not synced: a file that a power cut spoiled does not match its digest, and a
    /// cache may forget.
    ///
    /// - Returns: Nil if that failed; without a name where the body is empty.
    func complete() -> KeptBody? {
        guard descriptor >= 0 else { return KeptBody(file: nil, byteCount: 0, digest: []) }
        close(descriptor)
        descriptor = -1
        guard rename(folder.file(CacheFolder.partName(name)), folder.file(name)) == 0 else {
            unlink(folder.file(CacheFolder.partName(name)))
            return nil
        }
        return KeptBody(file: name, byteCount: byteCount, digest: Array(digest.finalize()))
    }

    func discard() {
        guard descriptor >= 0 else { return }
        close(descriptor)
        descriptor = -1
        unlink(folder.file(CacheFolder.partName(name)))
    }
}
