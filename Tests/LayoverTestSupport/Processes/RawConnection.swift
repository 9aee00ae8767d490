package import Foundation
import Glibc

/// A blocking TCP connection to the loopback address, for tests that must choose every byte themselves.
///
/// Every wait has a deadline. To be used on a thread of its own (`onOwnThread`).
package final class RawConnection {
    private let descriptor: Int32

    /// - Parameter namespace: The network namespace to connect in; the calling thread stays in it.
    package init(port: Int, namespace: String? = nil) throws {
        if let namespace { try NetworkNamespace.enter(namespace) }
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = LoopbackAddress.make(port: port)
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard connected else {
            let reason = errno
            close(descriptor)
            throw ProcessError("Cannot connect to port \(port): errno \(reason).")
        }
    }

    deinit {
        close(descriptor)
    }

    package func send(_ text: String) throws {
        try send(Data(text.utf8))
    }

    package func send(_ data: Data) throws {
        try data.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                let count = Glibc.send(
                    descriptor, bytes.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
                guard count > 0 else { throw ProcessError("Cannot send: errno \(errno).") }
                sent += count
            }
        }
    }

    /// The next bytes; nil once the other side has ended the connection, by a reset too.
    package func receive(by deadline: Deadline) throws -> Data? {
        var interest = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&interest, 1, deadline.millisecondsLeft) > 0 else {
            throw ProcessError("Nothing was received in time.")
        }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? Data(buffer[..<count]) : nil
    }

    /// Everything up to the end of the connection.
    package func receiveAll(within limit: Duration = .seconds(30)) throws -> Data {
        let deadline = Deadline(in: limit)
        var all = Data()
        while let part = try receive(by: deadline) { all.append(part) }
        return all
    }
}
