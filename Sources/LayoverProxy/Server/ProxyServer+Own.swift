import CLinux
import NIOCore
import NIOPosix

#if canImport(Glibc)
import Glibc
#endif

extension ProxyServer {
    /// A connection from within this process. Its requests go by the same rules as those of any client on this machine, but need no
    /// user, and go without TLS.
    ///
    /// - Returns: A socket, which is the caller's to close.
    /// - Throws: If there are no more descriptors to be had, or the server is being stopped.
    package func connect() async throws -> CInt {
        guard let loop = loops.randomElement() else { throw ChannelError.ioOnClosedChannel }
        var pair: [CInt] = [-1, -1]
        guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0, &pair) == 0 else {
            throw IOError(errnoCode: errno, reason: "socketpair")
        }
        let bootstrap = ClientBootstrap(group: loop.eventLoop)
            .channelOption(.autoRead, value: false)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelOption(.writeBufferWaterMark, value: Self.waterMark)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ClientConnection(loop: loop, isOwn: true))
                }
            }
        do {
            // NIO takes the descriptor over, also if this fails.
            _ = try await bootstrap.withConnectedSocket(pair[0]).get()
        } catch {
            close(pair[1])
            throw error
        }
        return pair[1]
    }
}
