import LayoverCore
import LayoverEngine
import NIOCore

/// CONNECT: the connection stands, and from here on it is not ours.
extension ProxyExchange {
    func dialled(_ socket: DialledSocket) {
        endFresh()
        defer { attempt = nil }
        guard phase == .attempting, let connection else {
            socket.close()
            return ended(as: .cancelled)
        }
        tellOriginAnswered(status: 200, .deliver(.answered))
        phase = .delivering
        loop.metrics.countAnswer(status: 200)
        connection.becomeTunnel(to: socket, head: tunnelHead) { [self] isStanding in
            ended(as: isStanding ? .delivered : .failed)
        }
    }

    /// An answer to CONNECT has no framing fields (RFC 9110 section 9.3.6).
    private var tunnelHead: ByteBuffer {
        var out = ByteBuffer(string: "HTTP/1.1 200 Connection Established\r\n")
        if entry != nil {
            let tenths = Int(((loop.engine.clock.now() - createdAt).inSeconds * 10).rounded())
            out.writeString(
                "Proxy-Status: \(loop.rules.identity); details=\"attempts=\(rules.attemptCount) waited=\(tenths / 10).\(tenths % 10)s\"\r\n"
            )
        }
        out.writeStaticString("\r\n")
        return out
    }
}
