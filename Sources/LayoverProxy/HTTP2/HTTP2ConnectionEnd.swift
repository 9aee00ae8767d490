import NIOCore

/// Knows whether a connection by HTTP/2 has come to its end by an error of its own (RFC 9113 section 5.4.1), and names the last stream in
/// the GOAWAY that announces it (section 6.8).
///
/// NIOHTTP2 tells errors of single streams and of connections by the same types, and a stream must not take the others with it. But before
/// it tells of an error of the connection, it sends GOAWAY with a code. This handler is between it and the network, and sees that. Each
/// frame is a write of its own there, but for the bytes of a DATA frame, which are one more. While the proxy stops there is no second
/// GOAWAY; then the end of the drain closes the connection.
///
/// NIOHTTP2 names stream 0 to a client that sends too much of something, and the highest number of all otherwise. Stream 0 promises that
/// no request was processed, and clients send them all again: a POST would be applied twice.
final class HTTP2ConnectionEnd: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let headByteCount = 9

    private(set) var isSaid = false
    /// The highest stream that was opened; 0: none. The session sets it.
    var lastStream: UInt32 = 0
    private var isPayloadNext = false

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if isPayloadNext {
            isPayloadNext = false
            return context.write(data, promise: promise)
        }
        var frame = unwrapOutboundIn(data)
        let start = frame.readerIndex
        switch frame.getInteger(at: start + 3, as: UInt8.self) {
        // The first three bytes are the length of the payload.
        case 0: isPayloadNext = frame.readableBytes == Self.headByteCount && frame.getInteger(at: start, as: UInt32.self) ?? 0 >= 1 << 8
        // Behind the head: the last stream, and the code.
        case 7 where frame.getInteger(at: start + Self.headByteCount + 4, as: UInt32.self) != 0:
            isSaid = true
            frame.setInteger(lastStream, at: start + Self.headByteCount)
            return context.write(wrapOutboundOut(frame), promise: promise)
        default: break
        }
        context.write(data, promise: promise)
    }
}
