package import LayoverCore
package import Synchronization

/// Says whether the first byte of an attempt may leave. It answers once, from any thread, maybe from within. False: nothing may be
/// sent, and the attempt fails as `neverSent`. A worker that has to block for it gets such attempts only where it is set aside for
/// tickets.
package typealias SendingPermit = @Sendable (_ answer: @escaping @Sendable (_ isGranted: Bool) -> Void) -> Void

/// One try at sending a request upstream, shared by an event loop and the loop's upstream worker.
///
/// `@unchecked Sendable`: constants are free for all, atomics too; `receiver` is touched on the loop only,
/// `workerState` on the worker's thread only.
package final class UpstreamAttempt: @unchecked Sendable {
    package let request: UpstreamRequest
    /// From 1, within its exchange.
    package let number: Int
    /// Whether an existing connection must not be used.
    package let needsFreshConnection: Bool
    /// Whether the worker reports the connection of a response. It costs a few microseconds.
    /// Not changed after the worker has been given the attempt.
    package var wantsConnectionFacts: Bool
    /// What the worker knew of the connection when the head came. Written by the worker before it reports the
    /// head, read by the loop after.
    package var connectionFacts: ConnectionFacts?
    /// The path that carries the attempt. Set by `UpstreamWorker.start`, on the loop.
    package var path: AttemptPath?
    /// Number of the client's connection, unique on its loop; nil where no client waits for the response. A connection that was
    /// authenticated as a whole (NTLM, Negotiate: RFC 4559 section 6) is for this client only.
    package let client: Int?
    /// Whether that client has left.
    private let hasClientLeft = Atomic<Bool>(false)
    /// The attempt that gets the connection of this one, and is told how far it is. Nil: no other attempt does.
    private let owner: UpstreamAttempt?
    /// Asked by the worker, on its thread, each time that the connection is open and the first byte of the request is about to
    /// leave. Nil: the request may be sent.
    package let permit: SendingPermit?
    /// Gets the events. Confined to the loop. A rehearsal puts its own in between.
    package var receiver: any UpstreamReceiver
    /// Whatever the worker keeps for the attempt. Confined to the worker's thread.
    package var workerState: AnyObject?
    /// Whether the connection is open and the first byte of the request is about to leave or has left.
    /// Set by the worker, read by both.
    package let hasBegunSending = Atomic<Bool>(false)
    /// Whether a connection is being made. Not set where there was one.
    package let isConnecting = Atomic<Bool>(false)
    /// Whether the whole body of the request was handed over: to the kernel, or to libcurl, which keeps up to 64 KiB of it.
    package let isBodyHandedOver = Atomic<Bool>(false)
    /// Bytes of the body of the request that were handed over for sending.
    package let bodyBytesSent = Atomic<Int64>(0)
    /// Bytes of the response that the worker has reported and the loop has not passed on yet.
    /// The worker adds and pauses the transfer when it is too much; the loop takes away and then calls
    /// `resumeReceiving`.
    package let bytesOutstanding = Atomic<Int>(0)
    /// Bytes that may be outstanding before the worker pauses the transfer. Nil: as many as the worker allows by itself. Not changed after
    /// the worker has been given the attempt. A client by HTTP/2 may have thousands of transfers that it takes nothing of.
    package var bytesOutstandingMax: Int?
    /// Whether a response without a length ended with a TLS connection that was closed without close_notify: it may have been cut off.
    /// The worker writes it before it reports the failure.
    package var isEndUnclosed = false
    /// Whether the worker paused the transfer because of `bytesOutstanding`.
    package let isReceivingPaused = Atomic<Bool>(false)

    /// The client has left, and the attempt goes on. On the loop.
    package func clientLeft() { hasClientLeft.store(true, ordering: .relaxed) }

    /// `client`, unless it has left. A client that leaves while the worker asks may still be named: `UpstreamWorker.clientLeft` follows.
    package var presentClient: Int? { hasClientLeft.load(ordering: .relaxed) ? nil : client }

    /// A connection is being made.
    package func connectingBegan() {
        isConnecting.store(true, ordering: .relaxed)
        owner?.isConnecting.store(true, ordering: .relaxed)
    }

    /// How far it has got, as far as that is known before its end. From any thread.
    package var progress: AttemptProgress {
        var phase = isConnecting.load(ordering: .relaxed) ? FailurePhase.connecting : .resolving
        if hasBegunSending.load(ordering: .relaxed) {
            let isSent = request.body == nil || isBodyHandedOver.load(ordering: .relaxed)
            phase = isSent ? .awaitingResponse : .sending
        }
        return AttemptProgress(phase: phase, bytesSent: bodyBytesSent.load(ordering: .relaxed))
    }

    package init(
        request: UpstreamRequest, number: Int, needsFreshConnection: Bool = false,
        wantsConnectionFacts: Bool = false, permit: SendingPermit? = nil,
        client: Int? = nil, owner: UpstreamAttempt? = nil, receiver: any UpstreamReceiver
    ) {
        self.request = request
        self.number = number
        self.needsFreshConnection = needsFreshConnection
        self.wantsConnectionFacts = wantsConnectionFacts
        self.permit = permit
        self.client = client
        self.owner = owner
        self.receiver = receiver
    }
}

/// Limits on the time of one attempt.
package struct AttemptTimeouts: Sendable, Hashable {
    /// From the start until the connection is open, name resolution and TLS included. Default: 10 s.
    package var connect: Duration = .seconds(10)
    /// From the moment the request is sent until its response head. Nil: there is no limit. Default: nil.
    package var firstByte: Duration?
    /// Longest silence in the middle of a response. Nil: there is no limit. Default: nil.
    package var idle: Duration?
    /// How long nothing may come back from a peer that has to answer, probes of the kernel included (`PeerSilence`). Default: 60 s.
    package var deadPeer: Duration = .seconds(60)

    package init() {}
}

/// Takes the events of attempts, on the event loop that started them.
package protocol UpstreamReceiver: AnyObject {
    func receive(_ event: UpstreamEvent, of attempt: UpstreamAttempt)
}
