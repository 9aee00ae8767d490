import NIOCore

/// Knows whether a connection by HTTP/2 has come to its end by an error of its own (RFC 9113 section 5.4.1).
///
/// NIOHTTP2 tells errors of single streams and of connections by the same types, and a stream must not take the others with it. But before
/// it tells of an error of the connection, it sends GOAWAY with a code. This handler is between it and the network, and sees that. Each
/// frame is a write of its own there, but for the bytes of a DATA frame, which are one more. While the proxy stops there is no second
/// GOAWAY; then the end of the drain closes the connection.
final class HTTP2ConnectionEnd: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let headByteCount = 9

    private(set) var isSaid = false
    private var isPayloadNext = false

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if isPayloadNext { isPayloadNext = false } else { look(at: unwrapOutboundIn(data)) }
        context.write(data, promise: promise)
    }

    private func look(at frame: ByteBuffer) {
        let start = frame.readerIndex
        switch frame.getInteger(at: start + 3, as: UInt8.self) {
        case 0: isPayloadNext = frame.readableBytes == Self.headByteCount && frame.getBytes(at: start, length: 3) != [0, 0, 0]
        // Behind the head: the last stream, and the code.
        case 7: isSaid = isSaid || frame.getInteger(at: start + Self.headByteCount + 4, as: UInt32.self) != 0
        default: break
        }
    }
}
