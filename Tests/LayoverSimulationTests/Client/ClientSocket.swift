import NIOCore

/// The socket between a simulated client and the proxy: asks for bytes only when they are wanted, and keeps
/// those going out while the client takes none.
final class ClientSocket: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    /// Bytes that may wait for the client before the proxy is told to stop writing.
    private static let highWaterMark = 256 << 10

    private(set) var wantsBytes = false
    private(set) var isOutputClosed = false
    /// True if the client reads the incoming bytes.
    var isTaking = true
    private var owedFlush = false
    private var waitingCount = 0
    private var context: ChannelHandlerContext?
    private let setWritable: (Bool) -> Void
    private let changed: () -> Void

    /// - Parameters:
    ///   - setWritable: Sets what the channel says of itself.
    ///   - changed: Called when bytes are wanted or have left.
    init(setWritable: @escaping (Bool) -> Void, changed: @escaping () -> Void) {
        self.setWritable = setWritable
        self.changed = changed
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func read(context: ChannelHandlerContext) {
        wantsBytes = true
        changed()
    }

    func tookRead() { wantsBytes = false }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        waitingCount += unwrapOutboundIn(data).readableBytes
        context.write(data, promise: promise)
        if !isTaking, waitingCount > Self.highWaterMark { setWritable(false) }
    }

    func flush(context: ChannelHandlerContext) {
        guard isTaking else {
            owedFlush = true
            return
        }
        waitingCount = 0
        context.flush()
        changed()
    }

    /// The client takes bytes again.
    func takeAgain() {
        isTaking = true
        guard let context else { return }
        waitingCount = 0
        if owedFlush { context.flush() }
        owedFlush = false
        changed()
        if !context.channel.isWritable {
            setWritable(true)
            context.fireChannelWritabilityChanged()
        }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if mode == .output {
            isOutputClosed = true
            promise?.succeed()
            changed()
        } else {
            context.close(mode: mode, promise: promise)
            changed()
        }
    }
}
