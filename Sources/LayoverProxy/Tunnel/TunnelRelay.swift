import LayoverEngine
import LayoverTLS
import NIOCore

/// One half of a tunnel: passes bytes on to its partner, no faster than the partner takes them.
///
/// Both halves run on the same event loop. When one side stops sending, the other is told so by closing
/// its output only: half-closed connections go on working. A reset is passed on as one, behind the bytes that came before it: an end in
/// its place would make a message that was cut off look complete (RFC 9112 section 8). Likewise an end of TLS without a close_notify.
/// A tunnel through which nothing has passed for `timeouts.tunnelIdle` is closed: one whose two ends are gone without a word would
/// stay for ever. So is one whose origin is dead (`PeerSilence`), by a reset; an origin that only stalls is alive.
///
/// While a tunnel is *frozen* nothing is read and no byte is passed on. The bytes of a read that was under way are kept. The end of one
/// side passes, unless bytes are kept before it; a reset always passes, and the kept bytes are dropped then. Bytes that the channel of
/// the receiving side had before are sent. The frozen time does not count as idle.
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
    /// When the client's half was frozen; nil: bytes pass.
    private var frozenAt: NIODeadline?
    private var isFrozen = false
    /// Bytes for this side that came while the tunnel was frozen. At most one read of the partner's channel, or, when its sender has
    /// ended, what the kernel had of it.
    private var kept: [ByteBuffer] = []
    /// How the partner's side ended behind the kept bytes. Nil: it goes on.
    private var keptEnd: CloseMode?
    /// How long nothing may come back from the peer of this half when it has to answer; nil: for ever.
    private let deadPeer: Duration?
    private var peerSilence = PeerSilence()
    private var peerCheckAt = NIODeadline.uptimeNanoseconds(0)
    /// Nil for the origin's half.
    private let whenClosed: ((TunnelRelay) -> Void)?

    /// - Parameters:
    ///   - deadPeer: For the origin's half.
    ///   - whenClosed: For the client's half.
    init(deadPeer: Duration? = nil, whenClosed: ((TunnelRelay) -> Void)? = nil) {
        (self.deadPeer, self.whenClosed) = (deadPeer, whenClosed)
    }

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
        if isFrozen { return }
        if partner?.hasMoved == false { partner?.checkPeer(now: now) }
        if hasMoved || partner?.hasMoved == true {
            hasMoved = false
            partner?.hasMoved = false
            deadline = coarseNow + idleMax
        } else if let deadline, deadline <= now { close() }
    }

    /// Asks the kernel now and then whether the peer is dead: then nothing that was written arrives any more.
    private func checkPeer(now: NIODeadline) {
        guard let deadPeer, peerCheckAt <= now, let options = context?.channel as? any SocketOptionProvider else { return }
        peerCheckAt = now + TimeAmount(PeerSilence.interval(limit: deadPeer))
        options.getTCPInfo().assumeIsolated().whenSuccess { info in
            let now = Duration.nanoseconds(Int64(clamping: now.uptimeNanoseconds))
            // By a reset: the client must not take it for an end that the origin wanted.
            if self.peerSilence.isDead(.init(info), now: now, limit: deadPeer) { self.reset() }
        }
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
