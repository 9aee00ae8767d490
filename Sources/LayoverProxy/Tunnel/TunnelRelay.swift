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
    /// Whether the end of this side's output was sent. From then on NIO closes the channel at the end of its input, without the event.
    private var isOutputEnded = false
    /// Whether the tunnel is closed from here, so that the end of its connections says nothing about their peers.
    private var isClosing = false
    /// Whether the client's connection has ended in order, and the last bytes of the client are kept for the origin. The tunnel is open
    /// until the origin's half ends.
    private var isOver = false
    /// Whether bytes came in since the last tick.
    private var hasMoved = true
    /// Bytes that came in so far.
    private(set) var byteCount = 0
    /// The time by which the next bytes must have passed. The client's half keeps it for both halves.
    private var deadline: NIODeadline?
    /// When the client's half was frozen; nil: it is not frozen, and bytes pass.
    private var frozenAt: NIODeadline?
    private var isFrozen = false
    /// Bytes for this side that came while the tunnel was frozen. At most one read of the partner's channel, or, when its sender has
    /// ended, what the kernel had of it.
    private var kept: [ByteBuffer] = []
    /// How the partner's side ended behind the kept bytes. Nil: the partner's side has not ended.
    private var keptEnd: CloseMode?
    /// How long nothing may come back from the peer of this half when it has to answer; nil: there is no limit.
    private let deadPeer: Duration?
    private var peerSilence = PeerSilence()
    private var peerCheckAt = NIODeadline.uptimeNanoseconds(0)
    /// Called when the tunnel is closed. Nil for the origin's half.
    private let whenClosed: ((TunnelRelay) -> Void)?

    /// - Parameters:
    ///   - deadPeer: Given for the origin's half only.
    ///   - whenClosed: Given for the client's half only.
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
        if !isOver { partner = nil }
    }

    /// Begins to relay.
    ///
    /// - Parameters:
    ///   - early: Bytes that this side has sent already.
    ///   - isInputClosed: Whether this side had stopped sending before.
    func start(early: ByteBuffer = ByteBuffer(), isInputClosed: Bool = false) {
        if early.readableBytes > 0 {
            partner?.pass(early)
            partner?.context?.flush()
        }
        self.isInputClosed = isInputClosed
        if isInputClosed { partner?.closeOutput() }
        readMore()
    }

    // MARK: Time

    /// Called once a second for the client's half.
    func tick(now: NIODeadline, coarseNow: NIODeadline, idleMax: TimeAmount) {
        if isFrozen { return }
        if partner?.hasMoved == false { partner?.checkPeer(now: now) }
        if hasMoved || partner?.hasMoved == true {
            hasMoved = false
            partner?.hasMoved = false
            deadline = coarseNow + idleMax
        } else if let deadline, deadline <= now {
            close()
        }
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

    /// Closes both sides at once. A frozen tunnel is reset: bytes of its peers may wait here or in the kernel, and an end would make the
    /// bytes before them look complete.
    func close() { close(byReset: isFrozen) }

    /// Closes both sides at once, by resets.
    func reset() { close(byReset: true) }

    private func close(byReset: Bool) {
        let contexts = [partner?.context, context].compactMap { $0 }
        isClosing = true
        partner?.isClosing = true
        if byReset { for context in contexts { context.closesByReset() } }
        for context in contexts { context.close(promise: nil) }
    }

    // MARK: Freezing

    /// Called for the client's half. No byte passes from now on.
    func freeze() {
        frozenAt = .now()
        isFrozen = true
        partner?.isFrozen = true
    }

    /// Called for the client's half. The kept bytes pass at once, and the tunnel goes on.
    func thaw() {
        if let frozenAt, let deadline { self.deadline = deadline + (NIODeadline.now() - frozenAt) }
        frozenAt = nil
        let halves = [self, partner].compactMap { $0 }
        for half in halves { half.isFrozen = false }
        for half in halves { half.passKept() }
        for half in halves { half.closeIfOver() }
        for half in halves { half.readMore() }
    }

    private func passKept() {
        let (bytes, end) = (kept, keptEnd)
        (kept, keptEnd) = ([], nil)
        guard !bytes.isEmpty, let context else { return }
        for piece in bytes { context.write(wrapOutboundOut(piece), promise: nil) }
        context.flush()
        switch end {
        case .output?: closeOutput()
        case .all?: context.closeWhenWritten()
        case .input?, nil: break
        }
    }

    /// Bytes from the partner's side.
    private func pass(_ bytes: ByteBuffer) {
        if isFrozen { kept.append(bytes) } else { context?.write(wrapOutboundOut(bytes), promise: nil) }
    }

    // MARK: Channel events

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        hasMoved = true
        let bytes = unwrapInboundIn(data)
        byteCount += bytes.readableBytes
        partner?.pass(bytes)
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
        // A reset that a write meets first closes the channel without `errorCaught`.
        partner?.partnerLeft(hasEnded: isInputClosed || isOutputEnded || isClosing)
        isOver = whenClosed != nil && partner?.keptEnd == .all
        if !isOver {
            partner = nil
            whenClosed?(self)
        }
        context.fireChannelInactive()
    }

    /// An error of the channel. Most of these errors are resets.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        partner?.wasReset()
        context.close(promise: nil)
    }

    private func readMore() {
        guard !isReading, !isFrozen, !isInputClosed, partner?.context?.channel.isWritable == true else { return }
        isReading = true
        context?.read()
    }

    private func closeOutput() {
        guard !isOutputClosed else { return }
        guard kept.isEmpty else {
            keptEnd = .output
            return
        }
        isOutputClosed = true
        if isInputClosed { return closeIfOver() }
        guard let context else { return }
        // Behind all that was written before, as `closeWhenWritten` does.
        context.writeAndFlush(NIOAny(ByteBuffer())).assumeIsolated().whenSuccess {
            self.isOutputEnded = true
            context.close(mode: .output, promise: nil)
        }
    }

    /// Bytes that were written are still sent before the close.
    private func closeIfOver() {
        // The last bytes of this side may still be kept in the partner.
        guard isInputClosed, isOutputClosed, partner?.kept.isEmpty != false else { return }
        context?.closeWhenWritten()
    }

    private func wasReset() {
        (kept, keptEnd) = ([], nil)
        context?.closesByReset()
    }

    /// The other side is gone altogether. Bytes on their way are still delivered.
    ///
    /// - Parameter hasEnded: Whether all bytes that the other side sent have come. If not, its end is a reset.
    private func partnerLeft(hasEnded: Bool) {
        guard !isOver else {
            isOver = false
            partner = nil
            whenClosed?(self)
            return
        }
        if hasEnded, !kept.isEmpty, !isClosing {
            keptEnd = .all
            // The client's half has to learn when the origin's half ends.
            if whenClosed != nil { partner = nil }
            return
        }
        partner = nil
        if !hasEnded || !kept.isEmpty { wasReset() }
        context?.closeWhenWritten()
    }
}
