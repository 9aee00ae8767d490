import LayoverEngine
import NIOCore

/// A body as far as it has come, read portion by portion as somebody takes it. Whoever sends it meanwhile does not notice.
struct BodyPortions: Sendable {
    /// The disk or a limit cut it off, or nobody keeps it any more.
    struct BrokenOff: Error {}

    /// Bytes at once. Default: 64 KiB.
    private static let portionByteCount = 64 << 10

    /// Kept here, or its file would be closed.
    private let body: CapturedBody
    /// What had come when it was looked at. What comes later is not shown.
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
