import LayoverHTTP
import NIOCore

extension ClientConnection {
    /// Turns this connection into one half of a tunnel: swaps the handlers. From here on the bytes pass by without us.
    ///
    /// - Parameters:
    ///   - far: The other half, which is in the pipeline of its channel already.
    ///   - head: What the client is sent first.
    /// - Returns: Whether it stands. If not, both connections are closed.
    func becomeTunnel(to far: TunnelRelay, _ channel: any Channel, head: ByteBuffer) -> Bool {
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
        access?.sentByteCount += head.readableBytes
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
        if early.readableBytes > 0 { channel.writeAndFlush(early, promise: nil) }
        phase = .closed
        exchange = nil
        deadline = nil
        loop.closed(self)
        loop.connections.opened(near)
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
        far.start()
        near.start(isInputClosed: isInputClosed)
        return true
    }
}
