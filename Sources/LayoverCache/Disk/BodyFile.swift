import Glibc
import LayoverCrypto
import LayoverEngine
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
