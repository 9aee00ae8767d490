import LayoverEngine
import NIOCore

/// A kept body, read portion by portion as somebody takes it.
struct BodyPortions: Sendable {
    /// The disk or a limit cut it off.
    struct BrokenOff: Error {}

    /// Bytes at once. Default: 64 KiB.
    private static let byteCount = 64 << 10

    /// Kept here, or its file would be closed.
    private let body: CapturedBody
    private let reader: CapturedBody.Reader
    private let wakes: AsyncStream<Void>

    init(of stored: StoredBody, spool: BodySpool) {
        let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        body = CapturedBody(stored, limits: .init(), spool: spool)
        reader = body.makeReader { wake.yield() }
        self.wakes = wakes
    }

    /// The next bytes; nil after the last.
    func next() async throws -> ByteBuffer? {
        while true {
            var bytes = ByteBuffer()
            var result = CapturedBody.ReadResult.wait
            bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: Self.byteCount) { target in
                result = reader.read(into: UnsafeMutableRawBufferPointer(rebasing: target.prefix(Self.byteCount)))
                if case .bytes(let count) = result { return count }
                return 0
            }
            switch result {
            case .bytes: return bytes
            case .end: return nil
            case .brokenOff: throw BrokenOff()
            case .wait: for await _ in wakes { break }
            }
            try Task.checkCancellation()
        }
    }
}
