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
            mayBeShared: client?.response.isSharing == true)
        switch machine.clientLeft(departure) {
        case .unattended(let limit): goOnUnattended(for: limit)
        case .share: shareUnattended()
        case .end:
            run.cancel(evidenceFor: phase.isOffering ? nil : entry)
            offered = nil
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
        entry = new.id
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

    /// The final head has come: the outcome is known. The body is read only where others with the same key wait for it.
    func answeredUnattended(_ head: ResponseHead) {
        originAnswered(.deliver(.answered), status: head.status)
        client?.response.share(head, of: self)
        // mutant: unattended-body
        if client?.response.isSharing == true { keySearch?.clientLeft() } else { endUnread() }
    }

    /// No other request waits for the response.
    func endUnshared() {
        guard phase.isUnattended, client?.response.isSharing == true else { return }
        endUnread()
    }

    private func endUnread() {
        run.cancel()
        ended(as: .cancelled)
    }
}
