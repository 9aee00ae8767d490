import Glibc
import LayoverEngine
import LayoverSystem
import NIOCore

/// A body in its file, which stays open while somebody reads it, whatever is removed meanwhile.
final class BodyFile: CachedBody {
    let byteCount: Int
    private let descriptor: CInt
    private let threads: CacheThreads

    /// Opens a file and reads all of it once; nil unless it is what was written. Blocks.
    init?(_ body: KeptBody, in folder: CacheFolder, threads: CacheThreads) throws {
        self.threads = threads
        byteCount = body.byteCount
        guard let file = body.file else {
            descriptor = -1
            if body.byteCount != 0 { return nil }
            return
        }
        descriptor = open(folder.file(file), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0, try isWhole(body) else { return nil }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    func read(at offset: Int, count: Int, done: @escaping @Sendable (ByteBuffer?) -> Void) {
        threads.submit {
            done(self.readNow(at: offset, count: min(count, self.byteCount - offset)))
        } orElse: {
            done(nil)
        }
    }

    private func readNow(at offset: Int, count: Int) -> ByteBuffer? {
        guard offset >= 0, count >= 0 else { return nil }
        var buffer = ByteBufferAllocator().buffer(capacity: count)
        while buffer.readableBytes < count {
            let position = off_t(offset + buffer.readableBytes)
            let rest = count - buffer.readableBytes
            var result = 0
            buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: rest) { target in
                repeat {
                    result = pread(descriptor, target.baseAddress, rest, position)
                } while result < 0 && errno == EINTR
                return max(0, result)
            }
            // Nobody makes the file shorter but a person.
            guard result > 0 else { return nil }
        }
        return buffer
    }

    private func isWhole(_ body: KeptBody) throws -> Bool {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_size == off_t(body.byteCount) else { return false }
        var digest = try SHA256()
        var offset = 0
        while offset < byteCount {
            guard let bytes = readNow(at: offset, count: min(1 << 18, byteCount - offset)) else { return false }
            try bytes.withUnsafeReadableBytes { try digest.update($0) }
            offset += bytes.readableBytes
        }
        return try digest.digest() == body.digest
    }
}

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

/// Where a body lies and how to tell that it is whole.
struct KeptBody: Sendable, Equatable {
    /// Nil for an empty body.
    var file: String?
    var byteCount: Int
    /// SHA-256 of the bytes; empty for an empty body.
    var digest: [UInt8]
}
