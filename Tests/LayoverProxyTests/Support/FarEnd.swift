import Glibc
import LayoverEngine
import LayoverTestSupport
import NIOCore
import NIOPosix

/// The far side of a tunnel: one end of a socket pair is handed to the proxy, the other is the test's.
final class FarEnd {
    private let ours: CInt
    private let theirs: CInt

    init() throws {
        var pair: [CInt] = [-1, -1]
        guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &pair) == 0 else {
            throw WaitedTooLong(what: "a socket pair")
        }
        (ours, theirs) = (pair[0], pair[1])
    }

    /// What a `dialled` event carries.
    func dialled() -> DialledSocket { DialledSocket(descriptor: theirs, remoteAddress: "192.0.2.1:443") }

    func client(readsByItself: Bool = true) async throws -> RawClient {
        try await RawClient.adopt(ours, readsByItself: readsByItself)
    }
}
