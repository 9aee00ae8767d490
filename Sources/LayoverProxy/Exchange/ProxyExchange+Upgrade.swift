import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore
import Synchronization

/// A WebSocket to an origin without TLS: dialled like CONNECT, and then the request goes out on the connection itself.
/// What answers is read here: after a 101 libcurl could not send any more.
extension ProxyExchange {
    func shakeHands(on socket: DialledSocket) {
        guard phase == .attempting, connection != nil, let attempt else {
            socket.close()
            self.attempt = nil
            endFresh()
            return ended(as: .cancelled)
        }
        attempt.hasBegunSending.store(true, ordering: .releasing)
        handshake = UpgradeHandshake(of: self, attempt, loop: loop)
        handshake?.begin(on: socket)
    }

    /// The origin has agreed: from here on the connection is not ours.
    ///
    /// - Parameters:
    ///   - far: The origin's half of the tunnel.
    ///   - rest: Bytes that came behind the head.
    func switchedProtocols(_ head: ResponseHead, to far: TunnelRelay, _ channel: any Channel, rest: ByteBuffer) {
        endFresh()
        defer {
            attempt = nil
            handshake = nil
        }
        guard phase == .attempting, let connection else {
            channel.close(promise: nil)
            return ended(as: .cancelled)
        }
        tellOriginAnswered(status: head.status, .deliver(.answered))
        phase = .delivering
        loop.metrics.countAnswer(status: head.status)
        framing = .none
        var out = head.bytes
        writeOwnFields(after: head, into: &out)
        out.writeImmutableBuffer(rest)
        connection.phase = .handingOver
        connection.decoder.endOfMessages()
        ended(as: connection.becomeTunnel(to: far, channel, head: out) ? .delivered : .failed)
    }
}
