import LayoverTLS
import NIOCore

/// One half of a tunnel: passes bytes on to its partner, no faster than the partner takes them.
///
/// Both halves run on the same event loop. When one side stops sending, the other is told so by closing
/// its output only: half-closed connections go on working. A reset is passed on as one, behind the bytes that came before it: an end in
/// its place would make a message that was cut off look complete (RFC 9112 section 8). Likewise an end of TLS without a close_notify.
/// A tunnel through which nothing has passed for `timeouts.tunnelIdle` is closed: one whose two ends are gone without a word would
/// stay for ever.
/// Confined to its loop.
final class TunnelRelay: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private weak var partner: TunnelRelay?
    private var context: ChannelHandlerContext?
    private var isReading = false
    private var isInputClosed = false
    private var isOutputClosed = false
    /// Whether bytes came in since the last tick.
    private var hasMoved = true
    /// Bytes that came in so far.
    private(set) var byteCount = 0
    /// When the next bytes must have passed; kept by the client's half for both.
    private var deadline: NIODeadline?
    private let whenClosed: (TunnelRelay) -> Void

    init(whenClosed: @escaping (TunnelRelay) -> Void = { _ in }) { self.whenClosed = whenClosed }

    static func join(_ one: TunnelRelay, _ other: TunnelRelay) {
        one.partner = other
        other.partner = one
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        partner = nil
    }

    /// Begins to relay. `isInputClosed`: whether this side had stopped sending before.
    func start(isInputClosed: Bool = false) {
        self.isInputClosed = isInputClosed
        if isInputClosed { partner?.closeOutput() }
        readMore()
    }

    // MARK: Time

    /// Once a second, for the client's half.
    func tick(now: NIODeadline, coarseNow: NIODeadline, idleMax: TimeAmount) {
        if hasMoved || partner?.hasMoved == true {
            hasMoved = false
            partner?.hasMoved = false
            deadline = coarseNow + idleMax
        } else if let deadline, deadline <= now { close() }
    }

    /// Closes both sides at once.
    func close() {
        partner?.context?.close(promise: nil)
        context?.close(promise: nil)
    }

    // MARK: Channel events

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        hasMoved = true
        byteCount += unwrapInboundIn(data).readableBytes
        partner?.context?.write(data, promise: nil)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        partner?.context?.flush()
        readMore()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { partner?.readMore() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? TLSInputEnd == .connection { partner?.context?.triggerUserOutboundEvent(TLSOutputCut(), promise: nil) }
        guard case ChannelEvent.inputClosed = event else {
            return context.fireUserInboundEventTriggered(event)
        }
        isInputClosed = true
        partner?.closeOutput()
        closeIfOver()
    }

    func channelInactive(context: ChannelHandlerContext) {
        partner?.partnerLeft()
        partner = nil
        whenClosed(self)
        context.fireChannelInactive()
    }

    /// A reset, for the most part.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        partner?.context?.closesByReset()
        context.close(promise: nil)
    }

    private func readMore() {
        guard !isReading, !isInputClosed, partner?.context?.channel.isWritable == true else { return }
        isReading = true
        context?.read()
    }

    private func closeOutput() {
        guard !isOutputClosed else { return }
        isOutputClosed = true
        if isInputClosed { return closeIfOver() }
        context?.closeWhenWritten(.output)
    }

    /// What was written still goes out before the close.
    private func closeIfOver() {
        guard isInputClosed, isOutputClosed else { return }
        context?.closeWhenWritten()
    }

    /// The other side is gone altogether. Bytes on their way are still delivered.
    private func partnerLeft() {
        partner = nil
        context?.closeWhenWritten()
    }
}
