import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

/// The response to CONNECT and to an upgrade: the connection becomes a tunnel.
extension ClientResponse {
    /// The connection that CONNECT or an upgrade asked for was dialled.
    func open(_ socket: DialledSocket, of exchange: Exchange) {
        guard exchange.phase == .attempting, connection != nil, let attempt = exchange.attempt else {
            socket.close()
            exchange.run.end()
            return exchange.ended(as: .cancelled)
        }
        guard !loop.network.isOffline else {
            // The connection was dialled at the moment when the mode was set.
            socket.close()
            return exchange.dialledWhileOffline()
        }
        let opening = FarOpening(of: exchange, attempt, loop: loop) { channel, rest in self.stands(channel, rest, of: exchange) }
        exchange.run.opening = opening
        opening.begin(on: socket)
    }

    /// - Parameter rest: What the other side has sent already.
    private func stands(_ channel: any Channel, _ rest: ByteBuffer, of exchange: Exchange) {
        guard exchange.phase == .attempting, let connection, let attempt = exchange.attempt else {
            channel.close(promise: nil)
            exchange.run.end()
            return exchange.ended(as: .cancelled)
        }
        if exchange.request.purpose == .upgrade {
            let handshake = UpgradeHandshake(of: exchange, attempt, loop: loop)
            exchange.run.handshake = handshake
            return handshake.begin(on: channel, rest)
        }
        exchange.run.endFresh()
        defer { exchange.run.end() }
        exchange.originAnswered(.deliver(.answered), status: 200)
        exchange.machine.deliveryBegan()
        connection.responds(200, from: .origin)
        // A response to CONNECT has no framing fields (RFC 9110 section 9.3.6).
        var head = ByteBuffer()
        if !facts.isConnected {
            head.writeStaticString("HTTP/1.1 200 Connection Established\r\n")
            writeStatus(of: exchange, into: &head)
            head.writeStaticString("\r\n")
        }
        let far = TunnelRelay(deadPeer: attempt.request.timeouts.deadPeer)
        let isStanding =
            (try? channel.pipeline.syncOperations.addHandler(far)) != nil
            && connection.becomeTunnel(to: exchange.request.origin, by: far, channel, head: head, rest: rest)
        exchange.ended(as: isStanding ? .delivered : .failed)
    }

    /// The origin has agreed to another protocol: from here on the connection is a tunnel.
    ///
    /// - Parameters:
    ///   - far: The origin's half of the tunnel.
    ///   - rest: Bytes that came behind the head.
    func switchProtocols(_ head: ResponseHead, to far: TunnelRelay, _ channel: any Channel, rest: ByteBuffer, of exchange: Exchange) {
        exchange.run.endFresh()
        defer { exchange.run.end() }
        guard exchange.phase == .attempting, let connection else {
            channel.close(promise: nil)
            return exchange.ended(as: .cancelled)
        }
        exchange.originAnswered(.deliver(.answered), status: head.status)
        exchange.machine.deliveryBegan()
        connection.responds(head.status, from: .origin)
        var out = facts.addresses?.rewriting(head.bytes) ?? head.bytes
        writeOwnFields(after: head, of: exchange, into: &out)
        let isStanding = connection.becomeTunnel(to: exchange.request.origin, by: far, channel, head: out, rest: rest)
        exchange.ended(as: isStanding ? .delivered : .failed)
    }
}
