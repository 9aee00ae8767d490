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
        guard ListeningSocket.connectToLoopback(descriptor, port: port) == 0 else {
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

/// A response as bytes, taken apart just enough for a test: status, head, body.
package struct PlainResponse: Sendable {
    package var status: Int
    package var head: String
    package var body: Data

    /// - Throws: When it does not begin with a whole response head.
    package init(_ bytes: Data) throws {
        guard let end = bytes.range(of: Data("\r\n\r\n".utf8)),
            let head = String(data: bytes[..<end.lowerBound], encoding: .isoLatin1),
            head.hasPrefix("HTTP/1.1 "), let status = Int(head.dropFirst(9).prefix(3))
        else { throw ProcessError("No response: \(String(decoding: bytes.prefix(500), as: UTF8.self))") }
        self.status = status
        self.head = head
        body = Self.isChunked(head) ? try Self.joined(bytes[end.upperBound...]) : Data(bytes[end.upperBound...])
    }

    /// The value of the first field of that name.
    package func field(_ name: String) -> String? {
        for line in head.split(separator: "\r\n").dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2, parts[0].lowercased() == name.lowercased() {
                return parts[1].trimmingCharacters(in: .whitespaces)
            }
        }
        return nil
    }

    package var text: String { String(decoding: body, as: UTF8.self) }

    private static func isChunked(_ head: String) -> Bool {
        head.lowercased().contains("\r\ntransfer-encoding: chunked")
    }

    private static func joined(_ chunks: Data) throws -> Data {
        var rest = chunks
        var body = Data()
        while let line = rest.range(of: Data("\r\n".utf8)) {
            let size = String(decoding: rest[rest.startIndex..<line.lowerBound], as: UTF8.self)
            guard let count = Int(size.prefix { $0 != ";" }, radix: 16), rest.distance(from: line.upperBound, to: rest.endIndex) >= count
            else { break }
            if count == 0 { return body }
            body.append(rest[line.upperBound..<line.upperBound + count])
            rest = rest[(line.upperBound + count)...].dropFirst(2)
        }
        throw ProcessError("The chunked body is not whole.")
    }
}
