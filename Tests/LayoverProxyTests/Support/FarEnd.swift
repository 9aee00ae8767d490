import Glibc
import LayoverEngine
import LayoverTLS
import LayoverTestSupport
import NIOCore
import NIOPosix

/// The far side of a tunnel: one end of a connection over TCP is handed to the proxy, the other is the test's.
final class FarEnd {
    private let ours: CInt
    private let theirs: CInt

    init() throws {
        // A program that another test starts must not keep the connection open.
        let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let listener = socket(AF_INET, kind, 0)
        defer { Glibc.close(listener) }
        let dialled = socket(AF_INET, kind, 0)
        var address = LoopbackAddress.make(port: 0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let accepted = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name -> CInt in
                guard bind(listener, name, size) == 0, listen(listener, 1) == 0, getsockname(listener, name, &size) == 0,
                    connect(dialled, name, size) == 0
                else { return -1 }
                return accept(listener, nil, nil)
            }
        }
        guard accepted >= 0 else { throw WaitedTooLong(what: "a connection") }
        _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
        (ours, theirs) = (accepted, dialled)
    }

    /// From now on this side acknowledges nothing, as a machine that lost its network.
    func dropEverything() { OriginConnection.dropEverything(at: ours) }

    /// The socket of a `dialled` event.
    func dialled() -> DialledSocket { DialledSocket(descriptor: theirs, remoteAddress: "192.0.2.1:443") }

    func client(
        readsByItself: Bool = true, tls: (@Sendable (any EventLoop) -> TLSChannelHandler)? = nil
    ) async throws -> RawClient {
        try await RawClient.adopt(ours, readsByItself: readsByItself, tls: tls)
    }
}
