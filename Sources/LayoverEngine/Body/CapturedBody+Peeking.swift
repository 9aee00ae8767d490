package import NIOCore

extension CapturedBody {
    /// Bytes that are kept at an offset, without an effect on the attempt that sends the body.
    ///
    /// - Parameters:
    ///   - offset: Below `receivedByteCount`.
    ///   - byteCountMax: More than zero; there may come fewer, but always some.
    /// - Returns: Nil when they are not kept any more, or cannot be read.
    package func peek(at offset: Int, upTo byteCountMax: Int) async -> ByteBuffer? {
        let (bytes, inFileCount) = copied(at: offset, upTo: byteCountMax)
        guard let inFileCount else { return bytes }
        return await fetched(at: offset, count: min(inFileCount, byteCountMax))
    }

    /// - Returns: The bytes, or how many lie in the file from there on; neither where they are gone.
    private func copied(at offset: Int, upTo byteCountMax: Int) -> (bytes: ByteBuffer?, inFileCount: Int?) {
        var bytes = ByteBuffer()
        var inFileCount: Int?
        bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: byteCountMax) { target in
            let target = UnsafeMutableRawBufferPointer(rebasing: target.prefix(byteCountMax))
            switch peeked(at: offset, into: target) {
            case .copied(let count): return count
            case .inFile(let count): inFileCount = count
            case .gone: break
            }
            return 0
        }
        return (bytes.readableBytes > 0 ? bytes : nil, inFileCount)
    }
}

/// A complete body that is sent to several clients, to each at its own pace.
extension CapturedBody: CachedBody {
    package var byteCount: Int { receivedByteCount }

    package func read(at offset: Int, count: Int, done: @escaping @Sendable (ByteBuffer?) -> Void) {
        let (bytes, inFileCount) = copied(at: offset, upTo: count)
        guard let inFileCount else { return done(bytes) }
        fetch(at: offset, count: min(inFileCount, count), done: done)
    }
}
