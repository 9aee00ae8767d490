import Glibc

/// A port of the loopback address that refuses connections until an origin listens on it.
///
/// The socket is bound but does not listen, so nobody else is given the port; with SO_REUSEADDR on both sides
/// Linux lets the origin bind it all the same (socket(7)).
package final class ReservedPort: Sendable {
    package let number: Int
    private let descriptor: Int32

    /// - Parameter listening: True if the port accepts connections, for tests of a port that is in use.
    package init(listening: Bool = false) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw ProcessError("No socket: errno \(errno).") }
        self.descriptor = descriptor
        var reuse: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
        var address = LoopbackAddress.make(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) == 0 && getsockname(descriptor, pointer, &length) == 0
            }
        }
        guard bound, !listening || listen(descriptor, 1) == 0 else {
            close(descriptor)
            throw ProcessError("Cannot reserve a port: errno \(errno).")
        }
        number = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit {
        close(descriptor)
    }
}
