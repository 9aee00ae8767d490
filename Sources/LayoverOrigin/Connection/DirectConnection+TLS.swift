import LayoverCore
import LayoverEngine
import LayoverTLS
import NIOCore

extension DirectConnection {
    /// Whether the TLS handshake is under way.
    var isSecuring: Bool { securedBy != nil }

    /// Makes TLS, and then begins the attempt.
    func secure(for attempt: UpstreamAttempt, by context: TLSClientContext, until deadline: NIODeadline) {
        adopt(attempt)
        securedBy = deadline
        do throws(TLSError) {
            let tls = try TLSClientSession(context, host: peer.host, port: peer.port, cache: worker.tlsSessions)
            self.tls = tls
            try tls.handshake()
            sendOutgoing()
            noteDeadline()
            readMore()
        } catch {
            fail(.notSecured(error))
        }
    }

    func receiveSecured(_ bytes: ByteBuffer) {
        guard let tls else { return }
        do throws(TLSError) {
            try tls.receive(bytes)
        } catch {
            return brokeSecured(error)
        }
        let isWaiting = isSecuring && handshakeTurn.wait { [weak self] in self?.handshakeTurnCame() }
        if !isWaiting { decrypt(bytes.readableBytes) }
    }

    private func handshakeTurnCame() {
        decrypt(0)
        worker.batchEnded()
    }

    /// Takes the bytes that have come: they count before the end of the connection does.
    func takeHandshakeTurn() {
        if tls != nil, handshakeTurn.end() { decrypt(0) }
    }

    private func decrypt(_ byteCount: Int) {
        guard let tls else { return }
        do throws(TLSError) {
            if isSecuring {
                try tls.handshake()
                guard tls.isEstablished else { return sendOutgoing() }
                established()
            }
            input.reserveCapacity(minimumWritableBytes: byteCount)
            try tls.read(into: &input)
        } catch {
            return brokeSecured(error)
        }
        sendOutgoing()
        if tls.isEnded { isInputClosed = true }
        received()
    }

    private func brokeSecured(_ error: TLSError) {
        // The alert that says why.
        sendOutgoing()
        guard attempt != nil else { return close() }
        // Bytes that were decrypted before the failure still count.
        if sending.hasBegun { receive() }
        if attempt != nil { failOnceTaken(.notSecured(error)) }
    }

    /// Passes on what was decrypted. Tickets for later sessions and the like are no bytes of the application.
    private func received() {
        if attempt == nil || sending.awaitsPermit && isReused {
            // No request is under way: these bytes are no response to the next one.
            if input.readableBytes > 0 || isInputClosed { close() }
        } else if sending.hasBegun {
            if input.readableBytes > 0 { receive() } else if isInputClosed { inputEnded() }
        }
    }

    private func established() {
        securedBy = nil
        guard let attempt else { return }
        _ = begin(attempt)
    }

    /// Encrypts bytes of the request. Bytes that TLS itself has to send go before them.
    func encrypt(_ bytes: ByteBuffer, into out: inout ByteBuffer) -> Bool {
        guard let tls else { return false }
        do throws(TLSError) {
            tls.takeOutgoing(into: &out)
            try tls.write(bytes, into: &out)
        } catch {
            return false
        }
        return true
    }

    /// Sends the bytes that TLS has produced and that wait to be sent.
    private func sendOutgoing() {
        guard let tls, tls.hasOutgoing, isOpen else { return }
        var out = ByteBuffer()
        tls.takeOutgoing(into: &out)
        // Whatever is wrong with the connection, its channel tells.
        guard case .success(let taken) = sendNow(out), taken < out.readableBytes else { return }
        out.moveReaderIndex(forwardBy: taken)
        writeLater(out)
    }

    /// The end that TLS wants to be told (close_notify).
    func sayEnd() {
        guard let tls, !isSecuring else { return }
        tls.end()
        sendOutgoing()
    }
}
