import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

/// An attempt that goes on although its client is gone (`ExchangePhase.unattended`).
extension Exchange {
    /// The client is gone.
    ///
    /// - Parameter isComplete: Whether all of the request has come.
    func clientLeft(isComplete: Bool) {
        let departure = ExchangeMachine.Departure(
            purpose: request.purpose, method: request.method, isComplete: isComplete, hasBegunSending: run.hasBegunSending,
            mayBeShared: client?.response.isSharing == true, mayBeAwaited: keySearch?.isReserved == true)
        switch machine.clientLeft(departure) {
        case .unattended(let limit): goOnUnattended(for: limit)
        case .share: shareUnattended()
        case .end:
            run.cancel(evidenceFor: phase.isOffering ? nil : entry)
            forgetOffered()
            // mutant: waits-for-nobody
            ended(as: .cancelled)
        case .none: break
        }
    }

    /// Becomes an entry, which gives the attempt an owner and a limit.
    private func goOnUnattended(for limit: Duration) {
        loop.opened(self)
        if let entry { return loop.engine.post(.wentUnattended(entry, limit)) }
        run.endFresh()
        var new = NewEntry(of: self)
        new.unattendedFor = limit
        new.wantsTicket = false
        joined(as: new.id)
        noteParked(as: new.id)
        run.show()
        loop.engine.post(.joined(new, self))
    }

    /// The client is gone, the response is here, and all of the request has come: the rest of the request goes to the origin.
    func sendRestUnattended() {
        let wasFresh = entry == nil
        // Of a response whose end is withheld the cache does not get the rest.
        if client?.response.isDelivered != true { cacheUse?.discard() }
        goOnUnattended(for: machine.clientLeftWithItsResponse())
        if wasFresh, let status = client?.response.status { originAnswered(.deliver(.answered), status: status) }
    }

    /// Those that wait for the response own it from now on. They take it as fast as it comes.
    private func shareUnattended() {
        loop.opened(self)
        keySearch?.clientLeft()
        if let response = client?.response { run.taken(response.tookBytes()) }
    }

    /// Others wait for the rest of the response: it becomes an entry, which gives the attempt an owner and a limit.
    func readOnForOthers() {
        guard phase.isUnattended, client?.response.isSharing == true else { return }
        let wasFresh = entry == nil
        goOnUnattended(for: machine.rules.policy.unattendedMax)
        if wasFresh, let status = client?.response.status { originAnswered(.deliver(.answered), status: status) }
    }

    /// The final head has come: the outcome is known. The body is read only where others with the same key wait for it, or where a part of
    /// the request is still to be sent (decision 68).
    func answeredUnattended(_ head: ResponseHead) {
        originAnswered(.deliver(.answered), status: head.status)
        client?.response.share(head, of: self)
        if isUnread, isStillSending { return }
        // mutant: unattended-body
        if client?.response.isSharing == true { keySearch?.clientLeft() } else { endUnread() }
    }

    /// Whether nobody reads the response.
    var isUnread: Bool { phase.isUnattended && client?.response.isSharing != true }

    private var isStillSending: Bool { attempt?.progress.phase == .sending && client?.response.isRequestUnwanted != true }

    /// Bytes of a response that are read for nobody once its request was handed over. To end it before would cut the request. libcurl may
    /// have the last 64 KiB of it, so the end of a short response is waited for. Default: 1 MiB.
    private static let unreadByteCountMax = 1 << 20

    /// A piece of a response that nobody reads, but whose request was still to be sent when it began.
    func receiveUnread(_ bytes: ByteBuffer) {
        run.taken(bytes.readableBytes)
        guard !isStillSending else { return }
        run.unreadByteCount += bytes.readableBytes
        if run.unreadByteCount > Self.unreadByteCountMax { endUnread() }
    }

    /// No other request waits for its outcome.
    func othersLeft() {
        guard phase.isUnattended else { return }
        if client?.response.isSharing == true { return endUnread() }
        if let entry { loop.engine.post(.othersLeft(entry)) }
    }

    /// Its time without a client is over.
    func findOthers() {
        guard let entry else { return }
        if let keySearch, keySearch.isReserved { return keySearch.lookForOthers(of: entry) }
        loop.engine.post(.foundOthers(entry, doWait: false))
    }

    private func endUnread() {
        run.cancel()
        ended(as: .cancelled)
    }
}
