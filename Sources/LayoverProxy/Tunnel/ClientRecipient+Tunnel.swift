import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverOrigin
import NIOCore

/// The response to CONNECT and to an upgrade: the connection becomes a tunnel.
extension ClientRecipient {
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
        let opening = OriginConnecting(
            for: attempt.request, on: loop.eventLoop, tls: loop.clientTLS, sessions: loop.tlsSessions, readyBy: exchange.run.readyBy
        ) { opening, outcome in
            if exchange.run.opening === opening { exchange.run.opening = nil }
            switch outcome {
            case .ready(let channel, let rest): self.isReady(channel, rest, of: exchange)
            case .failed(let failure):
                exchange.receive(.failed(failure), of: attempt)
                exchange.client?.connection?.flushNow()
            }
        }
        exchange.run.opening = opening
        opening.begin(on: socket)
    }

    /// - Parameter rest: Bytes that the other side has sent already.
    private func isReady(_ channel: any Channel, _ rest: ByteBuffer, of exchange: Exchange) {
        guard exchange.phase == .attempting, let connection, let attempt = exchange.attempt else {
            channel.close(promise: nil)
            exchange.run.end()
            return exchange.ended(as: .cancelled)
        }
        if exchange.request.purpose == .upgrade {
            return ask(for: attempt, on: channel, rest, of: exchange)
        }
        exchange.run.endFresh()
        defer { exchange.run.end() }
        exchange.tunnelOpened(status: 200)
        connection.responds(200, from: .origin)
        // A response to CONNECT has no framing fields (RFC 9110 section 9.3.6).
        var head = ByteBuffer()
        if !facts.isConnected {
            head.writeStaticString("HTTP/1.1 200 Connection Established\r\n")
            writeStatus(of: exchange, into: &head)
            head.writeStaticString("\r\n")
        }
        let far = TunnelRelay(deadPeer: attempt.request.timeouts.deadPeer)
        let isOpen =
            (try? channel.pipeline.syncOperations.addHandler(far)) != nil
            && connection.becomeTunnel(to: exchange.request.origin, by: far, channel, head: head, rest: rest)
        exchange.ended(as: isOpen ? .delivered : .failed)
    }

    /// Asks the origin for another protocol.
    private func ask(for attempt: UpstreamAttempt, on channel: any Channel, _ rest: ByteBuffer, of exchange: Exchange) {
        let loop = self.loop
        let owner = UpgradeHandshake.Owner(
            receiver: exchange,
            mayRead: { !exchange.phase.isWithholding && exchange.client?.connection?.isWritable != false },
            batchEnded: { exchange.client?.connection?.flushNow() },
            switched: { head, channel, rest in
                // The half of the tunnel is behind the handshake before the head is passed on: bytes may follow at once.
                let far = TunnelRelay(deadPeer: attempt.request.timeouts.deadPeer)
                try channel.pipeline.syncOperations.addHandler(far)
                exchange.client?.switchProtocols(head, to: far, channel, rest: rest, of: exchange)
            },
            ended: { handshake in if exchange.run.handshake === handshake { exchange.run.handshake = nil } },
            isAddressGone: { loop.isAddressGone($0) })
        let handshake = UpgradeHandshake(of: attempt, on: loop.eventLoop, limits: loop.configuration.framing, owner: owner)
        exchange.run.handshake = handshake
        handshake.begin(on: channel, rest)
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
        exchange.tunnelOpened(status: head.status)
        connection.responds(head.status, from: .origin)
        var out = facts.addresses?.rewriting(head.bytes) ?? head.bytes
        writeOwnFields(after: head, of: exchange, into: &out)
        let isOpen = connection.becomeTunnel(to: exchange.request.origin, by: far, channel, head: out, rest: rest)
        exchange.ended(as: isOpen ? .delivered : .failed)
    }
}
