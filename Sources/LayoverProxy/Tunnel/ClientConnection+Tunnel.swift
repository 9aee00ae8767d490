import LayoverCore
import LayoverHTTP
import NIOCore

extension ClientConnection {
    /// Turns this connection into one half of a tunnel: swaps the handlers. From here on the bytes pass by without us.
    ///
    /// - Parameters:
    ///   - origin: The other end of the tunnel.
    ///   - far: The other half, which is in the pipeline of its channel already.
    ///   - head: The client is sent this first.
    ///   - rest: Bytes that the origin has sent already.
    /// - Returns: Whether it stands. If not, both connections are closed.
    func becomeTunnel(to origin: Origin, by far: TunnelRelay, _ channel: any Channel, head: ByteBuffer, rest: ByteBuffer) -> Bool {
        guard let context else {
            channel.close(promise: nil)
            return false
        }
        phase = .handingOver
        decoder.endOfMessages()
        let loop = self.loop
        let access = takeAccess()
        let near = TunnelRelay { near in
            loop.closed(near)
            guard let access else { return }
            access.receivedByteCount += near.byteCount
            access.sentByteCount += far.byteCount
            loop.accessLog?.write(access, .done)
        }
        TunnelRelay.join(near, far)
        access?.sentByteCount += head.readableBytes + rest.readableBytes
        write(head)
        flushNow()
        let early = input
        input = ByteBuffer()
        do {
            try context.pipeline.syncOperations.addHandler(near)
        } catch {
            channel.close(promise: nil)
            closeNow()
            if let access { loop.accessLog?.write(access, .broken) }
            return false
        }
        access?.receivedByteCount += early.readableBytes
        phase = .closed
        exchange = nil
        deadline = nil
        loop.closed(self)
        // The tunnel may be frozen from the start.
        loop.opened(near, to: origin)
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
        far.start(early: rest)
        near.start(early: early, isInputClosed: isInputClosed)
        return true
    }
}
