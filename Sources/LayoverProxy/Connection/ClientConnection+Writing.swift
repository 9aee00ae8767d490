import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverTLS
import NIOCore

#if canImport(Glibc)
import Glibc
#endif

extension ClientConnection {
    /// Writes below this size are gathered into one buffer. Larger ones are not worth copying.
    private static let gatherMax = 8 << 10

    /// Writes in order; nothing leaves before the flush at the end of the batch.
    func write(_ bytes: ByteBuffer) {
        loop.metrics.responseByteCount.increment(by: bytes.readableBytes)
        access?.sentByteCount += bytes.readableBytes
        writtenByteCount += bytes.readableBytes
        // While a response flows, the body of its request may pause.
        if phase == .exchanging, deadline != nil { deadline = loop.coarseNow + loop.timeouts.requestBody }
        if bytes.readableBytes <= Self.gatherMax {
            if outgoing.readableBytes == 0 {
                outgoing = bytes
            } else {
                outgoing.writeImmutableBuffer(bytes)
            }
        } else {
            writeOutgoing()
            context?.write(wrapOutboundOut(bytes), promise: nil)
        }
        if !isInFlushList {
            isInFlushList = true
            loop.connections.flushLater(self)
        }
    }

    private func writeOutgoing() {
        guard outgoing.readableBytes > 0 else { return }
        let bytes = outgoing
        outgoing = ByteBuffer()
        context?.write(wrapOutboundOut(bytes), promise: nil)
    }

    func flushNow() {
        writeOutgoing()
        context?.flush()
    }

    /// At the end of a batch: not in the loop's list any more.
    func flushInTurn() {
        isInFlushList = false
        flushNow()
    }

    /// Bytes that were written and that the kernel has not taken yet.
    var writtenByteCountLeft: Int {
        if let stream { return stream.unsentByteCount }
        return (try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }

    /// Whether the client has taken none of the waiting bytes for too long (`ClientTimeouts.stall`). The time begins at the last tick at
    /// which the client had taken some of them.
    func hasStalled(now: NIODeadline) -> Bool {
        let left = writtenByteCountLeft
        let taken = writtenByteCount - left
        defer { (untakenByteCount, takenByteCount) = (left, taken) }
        guard left > 0, taken == takenByteCount, let stallDeadline else {
            stallDeadline = left > 0 ? loop.coarseNow + loop.timeouts.stall : nil
            return false
        }
        return stallDeadline <= now
    }

    /// Whether the client takes bytes as fast as they come.
    var isWritable: Bool { context?.channel.isWritable ?? false && stream?.hasRoom != false }

    // MARK: The end of an exchange

    /// Whether the client may have another request for us.
    var mayHaveMore: Bool { !isInputClosed || input.readableBytes > 0 }

    /// Writes a response of our own for the exchange at hand.
    ///
    /// - Parameter isComplete: Whether all of the request has come.
    func answer(_ response: OwnResponse, to client: ClientFacts, isComplete: Bool) {
        // The client has its 200 to CONNECT already, so no other response can follow. Only the connection can end.
        if client.isConnected { return breakOff(isCloseDelimited: true) }
        loop.metrics.ownResponseCount.increment()
        responds(response.status, from: .layover)
        let keepsAlive = client.keepAlive && isComplete && !loop.isDraining && mayHaveMore
        write(response.encoded(closes: !keepsAlive, sendsBody: !client.isHead, isOnOwnOrigin: client.isOnOwnOrigin))
        exchangeFinished(keepsAlive: keepsAlive)
        flushNow()
    }

    /// A response that was kept is written as far as it can be read.
    func replayEnded(isWhole: Bool, keepsAlive: Bool) {
        guard isWhole else { return breakOff(isCloseDelimited: false) }
        exchangeFinished(keepsAlive: keepsAlive)
        flushNow()
    }

    /// The response is complete.
    func exchangeFinished(keepsAlive: Bool) {
        finishAccess(.done)
        exchange = nil
        isBodyPaused = false
        guard phase == .exchanging else { return }
        guard keepsAlive, !loop.isDraining, mayHaveMore else {
            flushNow()
            return linger()
        }
        phase = .idle
        deadline = loop.coarseNow + loop.timeouts.idle
        if input.readableBytes > 0 { process() }
        readMore()
    }

    /// Closes our side, then waits for the client's: as long as it sends, so that a client that reads its response only once it has sent
    /// its request gets that response.
    func linger() {
        guard phase != .closed, phase != .lingering else { return }
        finishAccess(.clientGone)
        phase = .lingering
        exchange = nil
        input = ByteBuffer()
        isBodyPaused = false
        deadline = loop.coarseNow + Self.lingerSilenceMax
        lingerEndsAt = loop.coarseNow + Self.lingerMax
        guard !isInputClosed else { return closeWhenWritten() }
        flushNow()
        context?.closeWhenWritten(.output)
        readMore()
    }

    /// Closes once the kernel has taken what was written.
    func closeWhenWritten() {
        if phase == .idle {
            phase = .lingering
            lingerEndsAt = loop.coarseNow + Self.lingerMax
        }
        deadline = loop.coarseNow + Self.lingerSilenceMax
        flushNow()
        context?.closeWhenWritten()
    }

    func closeNow() {
        context?.close(promise: nil)
    }

    /// Breaks the connection so that the client cannot take what it has for a complete message
    /// (RFC 9112 section 8): closing would end a message that only the close delimits.
    func breakOff(isCloseDelimited: Bool) {
        finishAccess(.broken)
        flushNow()
        if isCloseDelimited { context?.closesByReset() }
        closeNow()
    }

    /// From now on TLS ends without close_notify, because the origin's did.
    func cutOutput() { context?.triggerUserOutboundEvent(TLSOutputCut(), promise: nil) }

    // MARK: The client's side closes

    func inputClosed() {
        if halfClosed == nil { halfClosed = HalfClosedClient(at: loop.coarseNow, takenByteCount: takenByteCount) }
        switch phase {
        case .idle, .lingering:
            closeWhenWritten()
        case .exchanging:
            exchange?.clientClosedInput()
        case .handingOver where peek != nil:
            // No ClientHello will come any more. The server may have something to say all the same.
            tunnelAfterPeek("the client has ended what it sends")
        case .handingOver, .closed:
            // The tunnel is told when it stands.
            break
        }
    }

    /// The proxy is being stopped: what is under way is let finish.
    func drain() {
        if peek != nil { return closeNow() }
        if phase == .idle || phase == .lingering { closeWhenWritten() } else { exchange?.drain() }
    }

    // MARK: The access log

    /// A response begins.
    func responds(_ status: Int, from source: AccessRecord.Source) {
        loop.metrics.countResponse(status: status)
        guard let access else { return }
        access.status = status
        access.source = source
        access.respondedAt = loop.engine.clock.now()
    }

    /// The exchange is over for its client. Only the first call says how.
    func finishAccess(_ outcome: AccessRecord.Outcome) {
        if let record = takeAccess() { loop.accessLog?.write(record, outcome) }
    }

    /// Takes the record of the exchange, with the facts of its attempts. The caller reports the end of the exchange.
    func takeAccess() -> AccessRecord? {
        guard let record = access else { return nil }
        access = nil
        exchange?.describe(in: record)
        return record
    }
}

extension ChannelHandlerContext {
    /// From now on closing is a reset (SO_LINGER in socket(7)), and no close_notify of TLS comes before it.
    func closesByReset() {
        triggerUserOutboundEvent(TLSOutputCut(), promise: nil)
        _ = (channel as? any SocketOptionProvider)?.setSoLinger(.init(l_onoff: 1, l_linger: 0))
    }
}
