import NIOCore

/// Puts our settings of an HTTP/2 connection into force with its first frame, not only once its client has acknowledged them.
///
/// A client sends its first requests before that (RFC 9113 section 3.4). NIOHTTP2 would measure those by the limits before ours: of
/// heads over 16 KiB it makes an error of the connection, and with it go all other streams. Ours allow more than those everywhere, so no
/// client can have gone beyond them unknowingly. It stands in front of NIOHTTP2, tells it of an acknowledgement behind the client's first
/// frame, leaves out the client's own one, and then leaves the pipeline.
final class HTTP2SettingsInForce: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// RFC 9113 section 6.5: an empty SETTINGS frame of stream 0 with the flag ACK.
    static let acknowledgement: [UInt8] = [0, 0, 0, 4, 1, 0, 0, 0, 0]
    private static let prefaceByteCount = 24
    private static let headByteCount = 9

    /// The beginning of the head of a frame.
    private var held = ByteBuffer()
    /// Bytes until the next head: of the preface, then of payloads.
    private var rest = prefaceByteCount
    /// Frames whose head has come.
    private var frameCount = 0
    private var hasTold = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var input = unwrapInboundIn(data)
        if held.readableBytes > 0 {
            held.writeBuffer(&input)
            (input, held) = (held, ByteBuffer())
        }
        var output = ByteBuffer()
        var isDone = false
        while !isDone, input.readableBytes > 0 {
            if rest > 0 {
                guard var part = input.readSlice(length: min(rest, input.readableBytes)) else { break }
                rest -= part.readableBytes
                output.writeBuffer(&part)
            } else if let head = input.getBytes(at: input.readerIndex, length: Self.headByteCount) {
                if hasTold, head == Self.acknowledgement {
                    input.moveReaderIndex(forwardBy: head.count)
                    isDone = true
                } else {
                    input.moveReaderIndex(forwardBy: head.count)
                    output.writeBytes(head)
                    rest = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
                    frameCount += 1
                }
            } else {
                held = input
                break
            }
            if rest == 0, frameCount == 1, !hasTold {
                output.writeBytes(Self.acknowledgement)
                hasTold = true
            }
        }
        if isDone { output.writeBuffer(&input) }
        if output.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(output)) }
        if isDone { context.pipeline.syncOperations.removeHandler(self, promise: nil) }
    }
}
