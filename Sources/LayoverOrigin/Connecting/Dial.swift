import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

/// An attempt that waits for its connection to be opened, by its parent proxy too. Confined to its loop.
final class Dial: UpstreamReceiver {
    private let attempt: UpstreamAttempt
    private let worker: DirectWorker
    /// The dialler's part of it. Nil once it has ended.
    private var dialled: UpstreamAttempt?
    /// Not nil while the dialled connection is made ready.
    private var connecting: OriginConnecting?
    private var isCancelled = false
    /// When the connection must be ready, TLS included.
    private let readyBy: NIODeadline

    init(for attempt: UpstreamAttempt, on worker: DirectWorker) {
        self.attempt = attempt
        self.worker = worker
        readyBy = attempt.request.timeouts.readyBy(from: worker.eventLoop.now)
    }

    func begin() {
        attempt.workerState = self
        let dialled = UpstreamAttempt(
            request: Self.dial(for: attempt.request), number: attempt.number, needsFreshConnection: true, owner: attempt, receiver: self)
        self.dialled = dialled
        worker.dialler.start(dialled)
    }

    /// The attempt gets its last event all the same: from the dialler, once the channel is open, or now.
    func cancel() {
        isCancelled = true
        if let dialled { worker.dialler.cancel(dialled) }
        guard let connecting else { return }
        self.connecting = nil
        connecting.abandon()
        end(with: .abortedByProxy)
    }

    func receive(_ event: UpstreamEvent, of dialled: UpstreamAttempt) {
        switch event {
        case .dialled(let socket):
            self.dialled = nil
            open(socket, for: dialled.request)
        case .failed(let failure):
            self.dialled = nil
            end(with: failure)
        case .bodyWanted, .bodyUnwanted, .interim, .head, .body, .endWithheld, .complete, .end: break
        }
    }

    private func open(_ socket: DialledSocket, for dial: UpstreamRequest) {
        guard !isCancelled else {
            socket.close()
            return end(with: .abortedByProxy)
        }
        let connection = DirectConnection(socket, to: attempt.request, on: worker)
        if OriginConnecting.isNeeded(for: dial) { return makeReady(connection, on: socket, for: dial) }
        socket.openChannel(on: worker.eventLoop, handler: connection) { result in
            switch result {
            case .success: self.opened(connection)
            case .failure(let error): self.end(with: self.lost(error, remoteAddress: socket.remoteAddress))
            }
        }
    }

    private func makeReady(_ connection: DirectConnection, on socket: DialledSocket, for dial: UpstreamRequest) {
        let connecting = OriginConnecting(
            for: dial, on: worker.eventLoop, tls: worker.options.tls, sessions: worker.tlsSessions, readyBy: readyBy
        ) { _, outcome in self.isReady(outcome, for: connection) }
        self.connecting = connecting
        connecting.begin(on: socket)
    }

    private func isReady(_ outcome: OriginConnecting.Outcome, for connection: DirectConnection) {
        connecting = nil
        switch outcome {
        case .ready(let channel, let rest):
            do {
                try channel.pipeline.syncOperations.addHandler(connection)
            } catch {
                channel.close(promise: nil)
                return end(with: lost(error, remoteAddress: connection.remoteAddress))
            }
            opened(connection, rest: rest)
        case .failed(let failure): end(with: failure)
        }
    }

    /// - Parameter rest: Bytes that came behind the response of a parent proxy.
    private func opened(_ connection: DirectConnection, rest: ByteBuffer = ByteBuffer()) {
        guard !isCancelled, connection.isOpen else {
            connection.close()
            return end(with: isCancelled ? .abortedByProxy : lost(nil, remoteAddress: connection.remoteAddress))
        }
        worker.ended(self)
        if let tls = worker.options.tls, attempt.request.isPeerSecure {
            connection.secure(for: attempt, by: tls, until: readyBy)
            if rest.readableBytes > 0 { connection.receiveSecured(rest) }
        } else {
            _ = connection.begin(attempt)
        }
    }

    private func lost(_ error: (any Error)?, remoteAddress: String?) -> Failure {
        let failure = Failure.lostBeforeSending(error, remoteAddress: remoteAddress)
        return attempt.request.parentProxyUse == .forward ? failure.ofParentProxy : failure
    }

    private func end(with failure: Failure) {
        worker.ended(self)
        worker.end(attempt, with: failure)
    }

    /// Opens a connection for a request. Only its `Via` is for a parent proxy that is asked for the connection.
    private static func dial(for request: UpstreamRequest) -> UpstreamRequest {
        var via = RequestFields()
        if request.parentProxyUse == .tunnel { for field in request.fields where field.isNamed("via") { via.append(field) } }
        return UpstreamRequest(
            purpose: .dial, origin: request.origin, method: "CONNECT", target: request.origin.authority, host: request.origin.authority,
            fields: via, mayBeSentTwice: true, timeouts: request.timeouts, allowAddresses: request.allowAddresses,
            parentProxy: request.parentProxy)
    }
}
