import LayoverEngine
import LayoverHTTP
import NIOCore
import NIOPosix
#if canImport(Glibc)
import Glibc
#endif

extension ClientConnection {
    /// Turns this connection into one half of a tunnel.
    ///
    /// - Parameter done: Told whether it stands; after that nothing is promised.
    func becomeTunnel(to socket: DialledSocket, head: ByteBuffer, done: @escaping (Bool) -> Void) {
        phase = .handingOver
        decoder.endOfMessages()
        let far = TunnelRelay()
        let loop = self.loop
        let bound = NIOLoopBound((self, far, done), eventLoop: loop.eventLoop)
        ClientBootstrap(group: loop.eventLoop)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelOption(.autoRead, value: false)
            .channelOption(.socketOption(.tcp_nodelay), value: 1)
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(bound.value.1)
                }
            }
            .withConnectedSocket(socket.descriptor)
            .hop(to: loop.eventLoop)
            .whenComplete { result in
                let (connection, far, done) = bound.value
                switch result {
                case .success(let channel): done(connection.becomeTunnel(to: far, channel, head: head))
                case .failure:
                    // NIO has closed the descriptor or never owned it; either way the client is told.
                    connection.closeNow()
                    done(false)
                }
            }
    }

    /// Swaps the handlers. From here on the bytes pass by without us.
    ///
    /// - Parameters:
    ///   - far: The other half, which is in the pipeline of its channel already.
    ///   - head: What the client is sent first.
    /// - Returns: Whether it stands. If not, both connections are closed.
    func becomeTunnel(to far: TunnelRelay, _ channel: any Channel, head: ByteBuffer) -> Bool {
        guard phase == .handingOver, let context else {
            channel.close(promise: nil)
            return false
        }
        let loop = self.loop
        let near = TunnelRelay { loop.closed($0) }
        TunnelRelay.join(near, far)
        write(head)
        flushNow()
        let early = input
        input = ByteBuffer()
        do {
            try context.pipeline.syncOperations.addHandler(near)
        } catch {
            channel.close(promise: nil)
            closeNow()
            return false
        }
        if early.readableBytes > 0 { channel.writeAndFlush(early, promise: nil) }
        phase = .closed
        exchange = nil
        deadline = nil
        loop.closed(self)
        loop.opened(near)
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
        far.start()
        near.start(isInputClosed: isInputClosed)
        return true
    }
}

extension DialledSocket {
    /// Gives the descriptor back to the system.
    func close() { Glibc.close(descriptor) }
}
