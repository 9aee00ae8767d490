import NIOCore

/// Knows since when a client by HTTP/2 owes the rest of what it has begun to send: the head of a request, or another frame that is not a
/// part of a body.
///
/// Until it is complete, nothing else can come on the connection (RFC 9113 section 4.3). NIOHTTP2 waits for it without a limit.
final class HTTP2OwedFrame: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private static let prefaceByteCount = 24
    private static let headByteCount = 9

    private let now: () -> NIODeadline
    /// The time of the loop when the owed frame began. Nil: no frame is owed.
    private(set) var since: NIODeadline?
    /// Bytes until the head of the next frame.
    private var rest = prefaceByteCount
    private var isInPreface = true
    /// The beginning of the head of a frame.
    private var head = ByteBuffer()
    /// Whether a header block goes on in the next frame.
    private var isInBlock = false
    private var isData = false

    /// - Parameter now: The coarse time of the loop.
    init(now: @escaping () -> NIODeadline) { self.now = now }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        look(at: unwrapInboundIn(data))
        context.fireChannelRead(data)
    }

    private func look(at bytes: ByteBuffer) {
        var bytes = bytes
        while bytes.readableBytes > 0 {
            if rest > 0 {
                let count = min(rest, bytes.readableBytes)
                bytes.moveReaderIndex(forwardBy: count)
                rest -= count
            } else {
                isInPreface = false
                if head.readableBytes == 0, bytes.readableBytes >= Self.headByteCount {
                    begin(bytes)
                    bytes.moveReaderIndex(forwardBy: Self.headByteCount)
                } else {
                    var part = bytes.readSlice(length: min(bytes.readableBytes, Self.headByteCount - head.readableBytes)) ?? ByteBuffer()
                    head.writeBuffer(&part)
                    guard head.readableBytes == Self.headByteCount else { break }
                    begin(head)
                    head.clear()
                }
            }
            // A frame is complete here: what follows counts from its own beginning.
            if rest == 0, !isInBlock { since = nil }
        }
        let isOwed = isInBlock || head.readableBytes > 0 || (rest > 0 && !isData && !isInPreface)
        since = isOwed ? since ?? now() : nil
    }

    /// - Parameter bytes: Begin with the head of a frame (RFC 9113 section 4.1).
    private func begin(_ bytes: ByteBuffer) {
        let start = bytes.readerIndex
        rest = Int((bytes.getInteger(at: start, as: UInt32.self) ?? 0) >> 8)
        let (kind, flags) = (bytes.getInteger(at: start + 3, as: UInt8.self), bytes.getInteger(at: start + 4, as: UInt8.self) ?? 0)
        isData = kind == 0
        // HEADERS and CONTINUATION, without END_HEADERS.
        if kind == 1 || kind == 9 { isInBlock = flags & 4 == 0 }
    }
}
