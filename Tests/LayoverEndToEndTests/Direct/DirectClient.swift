import Foundation
import Glibc
import LayoverTestSupport

/// A client that a scene steers, on a connection to the origin or to Layover. Used on one thread. Every wait has a deadline.
final class DirectClient {
    private enum Piece {
        case bytes, end, reset, nothing
    }

    /// Host and port of the origin.
    private let origin: String
    private let log: DirectLog
    private let descriptor: CInt
    private var tls: TLSStream?
    /// Text in front of the path in the target of a request.
    private let prefix: String
    private var input = Data()
    private var isEnded = false
    private var isReset = false
    private var hasLeft = false

    /// - Parameters:
    ///   - passage: Nil: the client connects to the origin itself.
    ///   - directTLS: TLS to the origin, without a passage; nil if the origin has no TLS.
    init(originPort: Int, passage: DirectPassage?, directTLS: TLSSettings?, log: DirectLog) throws {
        let origin = "\(passage?.way.host ?? "127.0.0.1"):\(originPort)"
        (self.origin, self.log) = (origin, log)
        let port = passage?.proxyPort ?? originPort
        prefix =
            switch passage?.way {
            case .plain: "http://\(origin)"
            case .secureTarget: "https://\(origin)"
            case .tunnel, .interception, nil: ""
            }
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        var address = LoopbackAddress.make(port: port)
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
        guard connected == 0 else { throw ProcessError("Cannot connect to port \(port): errno \(errno).") }
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        guard let settings = passage == nil ? directTLS : passage?.tls else { return }
        if passage != nil {
            send("CONNECT \(origin) HTTP/1.1\r\nHost: \(origin)\r\n\r\n")
            guard let head = receiveHead(), head.hasPrefix("HTTP/1.1 200") else { throw ProcessError("CONNECT was refused") }
        }
        let stream = try TLSStream(settings, on: descriptor, serverName: passage?.way == .interception ? "localhost" : nil)
        guard stream.handshake() else { throw ProcessError("The TLS handshake failed.") }
        tls = stream
    }

    deinit { if !hasLeft { end() } }

    private func end() {
        tls?.sendCloseNotify()
        close(descriptor)
    }

    /// Closes the connection. Nothing may be sent or received after it.
    func leave() {
        hasLeft = true
        end()
        log.clientHasLeft.fire()
    }

    func note(_ line: String) { log.note(.client, line) }

    /// Sends an expectation and waits for what the origin answers. After a second Layover would send a 100 of its own.
    func expect(_ body: () -> Void) { log.mustEnd(within: .milliseconds(900), body) }

    // MARK: Sending

    func head(_ method: String, _ fields: [String] = [], version: String = "1.1") -> String {
        (["\(method) \(prefix)/x HTTP/\(version)", "Host: \(origin)"] + fields).joined(separator: "\r\n") + "\r\n\r\n"
    }

    @discardableResult
    func send(_ text: String) -> Bool { send(Data(text.utf8)) }

    /// - Returns: True if all bytes were taken.
    @discardableResult
    func send(_ bytes: Data) -> Bool {
        if let tls { return bytes.withUnsafeBytes { tls.write($0) } }
        return bytes.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                let count = Glibc.send(descriptor, bytes.baseAddress.map { $0 + sent }, bytes.count - sent, CInt(MSG_NOSIGNAL))
                guard count > 0 else { return false }
                sent += count
            }
            return true
        }
    }

    @discardableResult
    func sendChunk(_ bytes: Data) -> Bool { send(Data("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Data("\r\n".utf8)) }

    /// Sends bytes for as long as they are taken.
    func sendUntilRefused(_ bytes: Data, times: Int) {
        for _ in 0..<times where !send(bytes) { return note("could not send all") }
        note("sent all")
    }

    func finishSending() {
        tls?.sendCloseNotify()
        shutdown(descriptor, CInt(SHUT_WR))
    }

    func pause(_ seconds: Double) { DirectScene.pause(seconds) }

    // MARK: Receiving

    /// Notes interim responses and the final one.
    func receiveResponse(toHead: Bool = false, slowly: Bool = false) {
        while let head = receiveHead() {
            let status = head.dropFirst(9).prefix(3)
            if status.hasPrefix("1") {
                note("interim \(DirectLog.essence(head).dropFirst(9))")
                continue
            }
            log.clientHasHead.fire()
            let (body, isWhole) = receiveBody(of: head, isNone: toHead || ["204", "304"].contains(status), slowly: slowly)
            // The version of a response is that of the connection.
            let text = "response \(DirectLog.essence(head).dropFirst(9))"
            return note(isWhole ? "\(text), \(DirectLog.essence(body))" : "\(text), incomplete")
        }
        note("no response")
    }

    /// Notes the next interim response.
    func receiveInterim() { note(receiveHead().map { "interim \(DirectLog.essence($0).dropFirst(9))" } ?? "no response") }

    func receiveHead() -> String? {
        while true {
            if let end = input.range(of: Data("\r\n\r\n".utf8)) { return take(end.upperBound - input.startIndex) }
            guard receiveMore() == .bytes else { return nil }
        }
    }

    /// Takes the next chunk of a response.
    func receiveChunk() -> Data? {
        guard let line = receiveLine(), let size = Int(line, radix: 16), let bytes = receive(size + 2) else { return nil }
        return bytes.dropLast(2)
    }

    private func receiveBody(of head: String, isNone: Bool, slowly: Bool) -> (Data, isWhole: Bool) {
        let lines = head.lowercased().split(separator: "\r\n")
        if isNone { return (Data(), true) }
        if lines.contains("transfer-encoding: chunked") { return receiveChunks() }
        if let length = lines.first(where: { $0.hasPrefix("content-length: ") }).flatMap({ Int($0.dropFirst(16)) }) {
            while input.count < length {
                if slowly { pause(0.002) }
                guard receiveMore() == .bytes else { return (input, false) }
            }
            return (Data(receive(length) ?? Data()), true)
        }
        while receiveMore() == .bytes {}
        return (input, isEnded && !isReset)
    }

    private func receiveChunks() -> (Data, isWhole: Bool) {
        var body = Data()
        while let line = receiveLine(), let size = Int(line, radix: 16) {
            if size == 0 { return (body, receiveTrailers()) }
            guard let chunk = receive(size + 2) else { break }
            body += chunk.dropLast(2)
        }
        return (body, false)
    }

    /// - Returns: True if the end of the trailers came.
    private func receiveTrailers() -> Bool {
        while let line = receiveLine() {
            if line.isEmpty { return true }
            note("trailer \(line)")
        }
        return false
    }

    private func receiveLine() -> String? {
        while true {
            if let end = input.range(of: Data("\r\n".utf8)) { return take(end.upperBound - input.startIndex).map { String($0.dropLast()) } }
            guard receiveMore() == .bytes else { return nil }
        }
    }

    private func receive(_ count: Int) -> Data? {
        while input.count < count { guard receiveMore() == .bytes else { return nil } }
        defer { input = Data(input.dropFirst(count)) }
        return Data(input.prefix(count))
    }

    private func take(_ count: Int) -> String? { receive(count).map { String(decoding: $0, as: UTF8.self) } }

    private func receiveMore() -> Piece {
        if let tls { return receiveMore(by: tls) }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count > 0 {
            input += buffer[..<count]
            return .bytes
        }
        if count == 0 {
            isEnded = true
            return .end
        }
        isReset = errno == ECONNRESET
        return isReset ? .reset : .nothing
    }

    private func receiveMore(by tls: TLSStream) -> Piece {
        switch tls.read() {
        case .bytes(let bytes):
            input += bytes
            return .bytes
        case .closeNotify:
            isEnded = true
            return .end
        // Without close_notify a response without a length may have been cut off.
        case .cutOff: return .end
        case .reset:
            isReset = true
            return .reset
        case .nothing: return .nothing
        }
    }
}
