import Foundation
import Glibc
import Synchronization

/// One accepted connection, in the hands of a script.
package final class OriginConnection: Sendable {
    private struct State {
        var received: [UInt8] = []
        /// Bytes of `received` that the script has taken.
        var takenCount = 0
        var isClosed = false
        var tls: TLSStream?
    }

    /// From 1, in the order in which connections were accepted.
    package let number: Int
    private let descriptor: CInt
    private let state = Mutex(State())

    /// Seconds that a read waits for bytes before it gives up.
    package static let patience = 30

    init(descriptor: CInt, number: Int) {
        self.descriptor = descriptor
        self.number = number
        var limit = timeval(tv_sec: Self.patience, tv_usec: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var one: CInt = 1
        setsockopt(
            descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<CInt>.size))
    }

    /// Makes TLS with the client. From then on everything is read and written through it.
    ///
    /// - Returns: True if the handshake succeeded.
    func secure(by settings: TLSSettings) -> Bool {
        var limit = timeval(tv_sec: 2 * Self.patience, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        guard let stream = try? TLSStream(settings, on: descriptor), stream.handshake() else { return false }
        state.withLock { $0.tls = stream }
        return true
    }

    private var tls: TLSStream? { state.withLock { $0.tls } }

    /// True once the script has closed the connection, or has ended.
    package var isClosed: Bool { state.withLock { $0.isClosed } }

    // MARK: What came

    package var received: [UInt8] { state.withLock { $0.received } }
    package var receivedText: String { String(decoding: received, as: UTF8.self) }

    /// Reads up to and with the empty line behind a head; nil when the client ends before.
    package func readHead() -> String? { take { Self.end(of: "\r\n\r\n", in: $0) } }

    /// Reads so many bytes; nil when the client ends before.
    package func read(_ count: Int) -> [UInt8]? {
        while state.withLock({ $0.received.count - $0.takenCount < count }) {
            guard receiveMore() else { return nil }
        }
        return state.withLock { state in
            defer { state.takenCount += count }
            return Array(state.received[state.takenCount..<state.takenCount + count])
        }
    }

    /// Reads a line, and returns it without its end; nil when the client ends before.
    package func readLine() -> String? {
        var line: [UInt8] = []
        while let byte = read(1)?.first {
            if byte == 10 { return String(decoding: line.dropLast(), as: UTF8.self) }
            line.append(byte)
        }
        return nil
    }

    /// Reads a head and the body that it announces. Chunked bodies are returned with their chunks.
    package func readRequest() -> (head: String, body: [UInt8])? {
        guard let head = readHead() else { return nil }
        let lines = head.lowercased().split(whereSeparator: \.isNewline)
        if let line = lines.first(where: { $0.hasPrefix("content-length: ") }) {
            guard let count = Int(line.dropFirst(16)), let body = read(count) else { return nil }
            return (head, body)
        }
        if lines.contains("transfer-encoding: chunked") {
            return readChunks().map { (head, $0) }
        }
        return (head, [])
    }

    /// Reads a chunked body up to its end, trailers included, and returns it as it came.
    private func readChunks() -> [UInt8]? {
        var body: [UInt8] = []
        while true {
            guard let line = take({ Self.end(of: "\r\n", in: $0) }) else { return nil }
            body += Array(line.utf8)
            guard let size = Int(line.dropLast(1), radix: 16) else { return nil }
            if size == 0 { break }
            guard let data = read(size + 2) else { return nil }
            body += data
        }
        while let line = take({ Self.end(of: "\r\n", in: $0) }) {
            body += Array(line.utf8)
            if line.utf8.count == 2 { return body }
        }
        return nil
    }

    /// Reads until the client ends the connection; false when it did not in time.
    @discardableResult
    package func readToEnd() -> Bool {
        while receiveMore() {}
        return errno != EAGAIN
    }

    /// Waits until so many bytes have come that the script has not taken, and leaves them in the kernel; false when they did not in time.
    @discardableResult
    package func waitForUnread(_ count: Int) -> Bool {
        let missing = count - state.withLock { $0.received.count - $0.takenCount }
        guard missing > 0 else { return true }
        let deadline = Deadline(in: .seconds(Self.patience))
        var buffer = [UInt8](repeating: 0, count: missing)
        while recv(descriptor, &buffer, buffer.count, CInt(MSG_PEEK) | CInt(MSG_DONTWAIT)) < missing {
            if deadline.hasPassed { return false }
            sched_yield()
        }
        return true
    }

    // MARK: What goes

    @discardableResult
    package func write(_ text: String) -> Bool { write(Array(text.utf8)) }

    /// Writes all bytes; false when the client has gone.
    @discardableResult
    package func write(_ bytes: [UInt8]) -> Bool {
        if let tls { return bytes.withUnsafeBytes { tls.write($0) } }
        return bytes.withUnsafeBytes { source in
            var done = 0
            while done < source.count {
                let count = send(
                    descriptor, source.baseAddress.map { $0 + done }, source.count - done,
                    CInt(MSG_NOSIGNAL))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                done += count
            }
            return true
        }
    }

    /// A complete response with a body and its length.
    @discardableResult
    package func answer(_ body: String = "ok", status: String = "200 OK", fields: String = "") -> Bool {
        write("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)")
    }

    /// From now on the kernel drops what arrives for this connection, so that it acknowledges nothing, as a machine that lost its network.
    package func dropEverything() { Self.dropEverything(at: descriptor) }

    /// The same for any socket of TCP.
    package static func dropEverything(at descriptor: CInt) {
        // One instruction of BPF that accepts no byte (SO_ATTACH_FILTER, socket(7)): code BPF_RET, then 0.
        var filter: [UInt64] = [6]
        filter.withUnsafeMutableBytes { filter in
            var program = (UInt64(1), UInt64(UInt(bitPattern: filter.baseAddress)))
            _ = setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &program, 16)
        }
    }

    /// From now on the kernel keeps a short piece back until all before is acknowledged (RFC 896), as it does where a server does not say
    /// otherwise.
    package func gatherWrites() {
        var zero: CInt = 0
        setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &zero, socklen_t(MemoryLayout<CInt>.size))
    }

    /// Waits until the client has read all that was written, so that a reset takes none of it away.
    ///
    /// - Returns: False if it has not in time. A connection that has ended is read.
    @discardableResult
    package func waitUntilRead() -> Bool {
        let own = port { getsockname(descriptor, $0, $1) }
        let peer = port { getpeername(descriptor, $0, $1) }
        let deadline = Deadline(in: .seconds(Self.patience))
        while !deadline.hasPassed {
            // In this order: bytes that the client's kernel has acknowledged are in its queue, or were read from it.
            if (Self.queues(from: own, to: peer)?.unacknowledged ?? 0) == 0, (Self.queues(from: peer, to: own)?.unread ?? 0) == 0 {
                return true
            }
            sched_yield()
        }
        return false
    }

    private func port(_ name: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> CInt) -> Int {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name($0, &length) }
        }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// Bytes of a socket of 127.0.0.1 in its two queues, from /proc/net/tcp (proc(5)). Nil: there is no such socket.
    private static func queues(from own: Int, to peer: Int) -> (unacknowledged: Int, unread: Int)? {
        let text = (try? String(contentsOfFile: "/proc/net/tcp", encoding: .utf8)) ?? ""
        let ends = [own, peer].map { String(format: "0100007F:%04X", $0) }
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count > 4, words[1] == ends[0], words[2] == ends[1] else { continue }
            let counts = words[4].split(separator: ":").compactMap { Int($0, radix: 16) }
            if counts.count == 2 { return (counts[0], counts[1]) }
        }
        return nil
    }

    /// Ends our direction only.
    package func finishWriting() { shutdown(descriptor, CInt(SHUT_WR)) }

    /// With TLS close_notify is sent before.
    package func close() {
        if state.withLock({ !$0.isClosed }) { tls?.sendCloseNotify() }
        end(resets: false)
    }

    /// Closes without close_notify, as many servers do (RFC 8446 section 6.1).
    package func closeSilently() { end(resets: false) }

    /// Closes so that the client gets a reset.
    package func reset() { end(resets: true) }

    /// Makes the script's reads and writes fail.
    func interrupt() {
        state.withLock { state in
            if !state.isClosed { _ = shutdown(descriptor, CInt(SHUT_RDWR)) }
        }
    }

    private func end(resets: Bool) {
        state.withLock { state in
            guard !state.isClosed else { return }
            state.isClosed = true
            if resets { Self.reset(at: descriptor) }
            _ = Glibc.close(descriptor)
        }
    }

    /// Resets the connection of any socket of TCP, which is left to be closed.
    ///
    /// A close alone resets it with its last descriptor only, and a program that is being started has one of each until execve(2). So the
    /// socket is dissolved first (connect(2), AF_UNSPEC).
    package static func reset(at descriptor: CInt) {
        var now = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
        var nobody = sockaddr()
        nobody.sa_family = sa_family_t(AF_UNSPEC)
        withUnsafePointer(to: &nobody) { _ = connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr>.size)) }
    }

    // MARK: Parts

    private func take(_ end: (ArraySlice<UInt8>) -> Int?) -> String? {
        while true {
            let text = state.withLock { state -> String? in
                guard let end = end(state.received[state.takenCount...]) else { return nil }
                defer { state.takenCount = end }
                return String(decoding: state.received[state.takenCount..<end], as: UTF8.self)
            }
            if let text { return text }
            guard receiveMore() else { return nil }
        }
    }

    private static func end(of text: String, in bytes: ArraySlice<UInt8>) -> Int? {
        let wanted = Array(text.utf8)
        guard bytes.count >= wanted.count else { return nil }
        for start in bytes.startIndex...(bytes.endIndex - wanted.count)
        where bytes[start..<start + wanted.count].elementsEqual(wanted) {
            return start + wanted.count
        }
        return nil
    }

    private func receiveMore() -> Bool {
        if let tls {
            guard case .bytes(let bytes) = tls.read() else { return false }
            state.withLock { $0.received.append(contentsOf: bytes) }
            return true
        }
        var buffer = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            state.withLock { $0.received.append(contentsOf: buffer[..<count]) }
            return true
        }
    }
}
