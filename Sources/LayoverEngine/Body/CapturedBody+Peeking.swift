package import NIOCore

extension CapturedBody {
    /// Bytes that are kept at an offset, without disturbing whoever sends the body.
    ///
    /// - Parameters:
    ///   - offset: Below `receivedByteCount`.
    ///   - byteCountMax: More than zero; there may come fewer, but always some.
    /// - Returns: Nil when they are not kept any more, or cannot be read.
    package func peek(at offset: Int, upTo byteCountMax: Int) async -> ByteBuffer? {
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
        guard let inFileCount else { return bytes.readableBytes > 0 ? bytes : nil }
        return await fetched(at: offset, count: min(inFileCount, byteCountMax))
    }
}
