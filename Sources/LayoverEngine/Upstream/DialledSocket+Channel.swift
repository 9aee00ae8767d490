package import NIOCore
import NIOPosix
#if canImport(Glibc)
import Glibc
#endif

extension DialledSocket {
    /// Makes a channel of the socket, which may be half closed and reads only when it is told to.
    ///
    /// Called on that loop. The descriptor is the channel's from then on; if there is no channel, it is closed.
    ///
    /// - Parameters:
    ///   - handler: All that is in the channel's pipeline.
    ///   - opened: Called once, on that loop.
    package func openChannel(
        on loop: any EventLoop, handler: any ChannelHandler, opened: @escaping (Result<any Channel, any Error>) -> Void
    ) {
        let bound = NIOLoopBound((handler, opened), eventLoop: loop)
        ClientBootstrap(group: loop)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelOption(.autoRead, value: false)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(bound.value.0)
                }
            }
            .withConnectedSocket(descriptor)
            .hop(to: loop)
            .whenComplete { bound.value.1($0) }
    }

    /// Gives the descriptor back to the system.
    package func close() { Glibc.close(descriptor) }
}
