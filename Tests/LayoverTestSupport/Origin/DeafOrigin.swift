import Glibc

/// A port where connecting takes for ever: it listens, but its backlog is full, so the kernel drops what
/// comes (listen(2)).
package final class DeafOrigin: Sendable {
    package let port: Int
    private let descriptors: [CInt]

    package init() throws {
        let (listener, port) = try ListeningSocket.make(backlog: 0)
        self.port = port
        var descriptors = [listener]
        // One fits into a backlog of 0; a few more make sure of it.
        for _ in 1...4 {
            let descriptor = socket(
                AF_INET,
                CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
            guard descriptor >= 0 else { throw ListeningSocket.Failed(osError: errno) }
            _ = ListeningSocket.connectToLoopback(descriptor, port: port)
            descriptors.append(descriptor)
        }
        self.descriptors = descriptors
    }

    package func stop() {
        for descriptor in descriptors { close(descriptor) }
    }
}
