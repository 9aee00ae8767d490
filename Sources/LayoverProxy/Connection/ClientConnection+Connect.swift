import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverTLS
import Logging
import NIOCore

/// A connection that stops reading requests itself: after a CONNECT (RFC 9110 section 9.3.6) TLS ends here, or it becomes half of a tunnel.
extension ClientConnection {
    /// Answers CONNECT without dialling, and waits for what the client speaks.
    func peekBeforeTunnel(_ head: RequestHead, _ plan: ForwardPlan) {
        decoder.endOfMessages()
        let host = plan.request.origin.host
        let pair = RejectionMemory.Pair(client: clientAddress, host: host)
        guard let interceptions = loop.interceptions,
            !(loop.configuration.routes.relaysRejected(host) && interceptions.relays(pair, now: loop.engine.clock.now()))
        else { return openTunnel(head, plan, isConnected: false) }
        phase = .handingOver
        write(ByteBuffer(string: "HTTP/1.1 200 Connection Established\r\n\r\n"))
        flushNow()
        peek = InterceptionPeek(head: head, plan: plan, timer: tunnelTimer(in: InterceptionPeek.silenceMax, "the client is silent"))
        if input.readableBytes > 0 { firstBytesCame() } else { readMore() }
    }

    func firstBytesCame() {
        switch peek?.verdict(on: input) {
        case .moreNeeded: readMore()
        case .helloBegun:
            peek?.timer.cancel()
            peek?.timer = tunnelTimer(in: InterceptionPeek.helloTimeMax, "the ClientHello is not complete")
            readMore()
        case .hello(let session): intercept(session)
        case .other: tunnelAfterPeek("the client does not speak TLS")
        case nil: break
        }
    }

    private func tunnelTimer(in time: TimeAmount, _ reason: String) -> Scheduled<Void> {
        let bound = NIOLoopBound(self, eventLoop: loop.eventLoop)
        return loop.eventLoop.scheduleTask(in: time) { bound.value.tunnelAfterPeek(reason) }
    }

    /// Not TLS: a tunnel, by the usual way. Its client has its 200 already.
    func tunnelAfterPeek(_ reason: String) {
        guard let peek else { return }
        endPeek()
        guard phase == .handingOver else { return }
        loop.logger.info(
            "not intercepted: a connection became a tunnel",
            metadata: ["host": "\(peek.plan.request.origin.host)", "reason": "\(reason)"])
        openTunnel(peek.head, peek.plan, isConnected: true)
    }

    private func openTunnel(_ head: RequestHead, _ plan: ForwardPlan, isConnected: Bool) {
        phase = .exchanging
        let exchange = Exchange(plan, head, of: self, isConnected: isConnected)
        self.exchange = exchange
        // It may have been planned before a reload, and looked at since whether it is intercepted.
        if plan.routesNumber != loop.configuration.routes.number { exchange.reroute() }
        exchange.requestBegan()
    }

    /// Forgets what was waited for.
    func endPeek() {
        peek?.timer.cancel()
        peek = nil
    }

    /// Replaces this handler in the pipeline by TLS and by a connection for the requests inside.
    private func intercept(_ session: TLSServerSession) {
        guard let peek, phase == .handingOver, let context, let certificates = loop.certificates else { return }
        endPeek()
        let name = peek.plan.request.origin.host
        let origin = Origin(scheme: .https, host: name, port: peek.plan.request.origin.port)
        let eventLoop = loop.eventLoop
        // The TLS session has read these bytes already.
        input = ByteBuffer()
        // The certificate is for the name that the client asks for. Requests are sent to the host of CONNECT in any case.
        let tls = TLSServerHandler(session, turns: loop.handshakeTurns) { hello in
            certificates.context(for: hello.serverName ?? name, on: eventLoop)
        }
        loop.interceptions?.began()
        access = nil
        deadline = nil
        phase = .closed
        loop.closed(self)
        // The connection inside counts for the limit of connections from now on.
        do {
            let pipeline = context.pipeline.syncOperations
            // In this order: the connection inside asks for its first bytes as soon as it is added.
            try pipeline.addHandler(tls)
            let verdict = CertificateVerdict(of: name, client: clientAddress, loop: loop)
            let inside = InterceptedConnection(origin: origin, user: user, verdict: verdict)
            try pipeline.addHandler(ClientConnection(loop: loop, intercepted: inside))
            pipeline.removeHandler(self, promise: nil)
        } catch {
            loop.connectionLimit.closed()
            context.close(promise: nil)
        }
    }

    // MARK: Inside

    /// The handshake with the client is complete. The name that it asked for may be another one than that of CONNECT: requests go to the
    /// latter, and people are told.
    func secured(_ established: TLSEstablished) {
        guard var intercepted else { return }
        // Without a certificate there was nothing to reject.
        if established.isResumed { intercepted.verdict.accepted(isResumed: true) }
        if let name = established.serverName?.lowercased() {
            let bare = name.hasSuffix(".") ? String(name.dropLast()) : name
            if bare != intercepted.origin.host { intercepted.serverName = bare }
        }
        self.intercepted = intercepted
        if established.applicationProtocol == "h2" { becomeSession(intercepted) }
    }

    /// Puts HTTP/2 in its own place, which has a connection for each stream.
    private func becomeSession(_ intercepted: InterceptedConnection) {
        guard let context, phase == .idle else { return }
        // The session counts for the limit of connections from now on.
        phase = .closed
        deadline = nil
        loop.closed(self)
        let loop = loop
        do {
            try HTTP2Session.begin(on: context.channel, loop: loop, verdict: intercepted.verdict) { transcoder in
                var intercepted = intercepted
                intercepted.stream = transcoder
                return ClientConnection(loop: loop, intercepted: intercepted)
            }
            context.pipeline.syncOperations.removeHandler(self, promise: nil)
        } catch {
            loop.connectionLimit.closed()
            context.close(promise: nil)
        }
    }

    // MARK: Tunnels

    /// Turns this connection into one half of a tunnel: swaps the handlers. From here on the bytes pass by without us.
    ///
    /// - Parameters:
    ///   - origin: The other end of the tunnel.
    ///   - far: The other half, which is in the pipeline of its channel already.
    ///   - head: The client is sent this first.
    ///   - rest: Bytes that the origin has sent already.
    /// - Returns: Whether it stands. If not, both connections are closed.
    func becomeTunnel(to origin: Origin, by far: TunnelRelay, _ channel: any Channel, head: ByteBuffer, rest: ByteBuffer) -> Bool {
        guard let context else {
            channel.close(promise: nil)
            return false
        }
        phase = .handingOver
        decoder.endOfMessages()
        let loop = self.loop
        let access = takeAccess()
        let near = TunnelRelay { near in
            loop.closed(near)
            guard let access else { return }
            access.receivedByteCount += near.byteCount
            access.sentByteCount += far.byteCount
            loop.accessLog?.write(access, .done)
        }
        TunnelRelay.join(near, far)
        access?.sentByteCount += head.readableBytes + rest.readableBytes
        write(head)
        flushNow()
        let early = input
        input = ByteBuffer()
        do {
            try context.pipeline.syncOperations.addHandler(near)
        } catch {
            channel.close(promise: nil)
            closeNow()
            if let access { loop.accessLog?.write(access, .broken) }
            return false
        }
        access?.receivedByteCount += early.readableBytes
        phase = .closed
        exchange = nil
        deadline = nil
        loop.closed(self)
        // The tunnel may be frozen from the start.
        loop.opened(near, to: origin)
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
        far.start(early: rest)
        near.start(early: early, isInputClosed: isInputClosed)
        return true
    }
}
