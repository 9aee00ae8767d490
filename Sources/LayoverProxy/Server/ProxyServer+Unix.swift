import CLinux
import LayoverEngine
import NIOCore
import NIOPosix

#if canImport(Glibc)
import Glibc
#endif

extension ProxyServer {
    /// Binds a Unix socket that has the wanted permissions from the first moment that it can be reached.
    ///
    /// - Parameter mode: Nil leaves the umask's.
    static func bindUnix(
        _ bootstrap: ServerBootstrap, path: String, mode: UInt16?
    ) async throws -> any Channel {
        let folder = try PrivateSocketFolder(for: path, of: "proxy.listen")
        defer { folder.remove() }
        let descriptor = try UnixSocket.bound(in: folder)
        do {
            // Before it is moved, so that nobody meets a socket that does not listen yet.
            if listen(descriptor, SOMAXCONN) != 0 { throw folder.failure("listen on") }
            try folder.publish(mode: mode)
        } catch {
            close(descriptor)
            throw error
        }
        return try await bootstrap.withBoundSocket(descriptor).get()
    }
}

/// The calls of the system; in `ProxyServer` their names have other meanings.
private enum UnixSocket {
    /// NIO would remove the file of a socket that it has bound when it closes it, by an address that names something else by then.
    static func bound(in folder: PrivateSocketFolder) throws -> CInt {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(folder.bindPath.utf8CString)
        guard bytes.count <= MemoryLayout.size(ofValue: address.sun_path) else { throw folder.failure("the path of") }
        withUnsafeMutableBytes(of: &address.sun_path) { room in bytes.withUnsafeBytes { room.copyMemory(from: $0) } }
        let socket = made()
        guard socket >= 0 else { throw folder.failure("socket for") }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
        guard result == 0 else {
            let failure = folder.failure("bind of")
            close(socket)
            throw failure
        }
        return socket
    }

    private static func made() -> CInt {
        socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    }
}

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
