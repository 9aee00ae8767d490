import LayoverEngine
import NIOCore

/// A body as far as it has arrived, read portion by portion, without an effect on the attempt that sends it.
struct BodyPortions: Sendable {
    /// The disk or a limit cut it off, or it is no longer kept.
    struct BrokenOff: Error {}

    /// Bytes at once. Default: 64 KiB.
    private static let portionByteCount = 64 << 10

    /// Kept here, or its file would be closed.
    private let body: CapturedBody
    /// The bytes that had arrived at the call. Later bytes are not shown.
    let byteCount: Int

    init(of body: CapturedBody) {
        self.body = body
        byteCount = body.receivedByteCount
    }

    /// Some of the bytes at an offset; nil behind the last.
    func portion(at offset: Int) async throws -> ByteBuffer? {
        guard offset < byteCount else { return nil }
        try Task.checkCancellation()
        let countMax = min(Self.portionByteCount, byteCount - offset)
        guard let bytes = await body.peek(at: offset, upTo: countMax) else { throw BrokenOff() }
        return bytes
    }
}
