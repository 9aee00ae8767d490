import LayoverCore
import LayoverEngine
import NIOCore

/// A request whose client takes a ticket if it has to wait, and in whose body tokens may stand. It is read to its end
/// before the first attempt: an origin must never get the tokens themselves.
extension ProxyExchange {
    /// - Returns: False where there is nothing to look for, or the body is too long for a ticket anyway.
    func looksForTokens() -> Bool {
        guard ticket?.tokens != nil, isReceivingRequest else { return false }
        if case .length(let count) = request.framing, count > loop.rules.body.byteCountMax { return false }
        ticket?.isReadFirst = true
        phase = .collecting
        sendContinue()
        return true
    }

    /// All of the body is there.
    func wasReadFirst() {
        ticket?.isReadFirst = false
        guard phase == .collecting else { return }
        if ticket?.tokens?.isBodySuspect == true { becomeDeferred() } else { beginLooking() }
    }

    /// A limit, or the disk, does not let the body be kept to its end. So it can be no ticket, and is tried as a request
    /// that just waits; unless there is a token in it already.
    func cannotBeReadFirst() {
        guard ticket?.isReadFirst == true, phase == .collecting else { return }
        ticket?.isReadFirst = false
        guard ticket?.tokens?.isBodySuspect == true else { return beginLooking() }
        let failure = request.body?.keepingFailure
        request.body?.breakOff()
        fail(failure == nil ? .bodyOverMax(loop.rules.body.byteCountMax) : Problem(notKept: failure))
    }

    /// What waits for another ticket is not tried first: it is accepted, and its client is told.
    private func becomeDeferred() {
        guard let connection, let turn = ticket else { return }
        let deferred = DeferredRequest(takingOver: self, of: connection, turn)
        connection.exchange = deferred
        self.connection = nil
        deferred.looksForTokens()
    }
}
