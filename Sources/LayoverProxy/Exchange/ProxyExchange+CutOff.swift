import LayoverCore
import LayoverEngine
import Synchronization

/// The proxy ends, and the time that attempts had to finish is over.
extension ProxyExchange {
    func cutOff() -> Bool {
        switch phase {
        case .delivering, .ended:
            // Those that asked for the same must not wait for what will not come.
            claim?.end(KeyOutcome(OwnResponse(.cutOff(mayHaveBeenSent: true), identity: loop.rules.identity)))
            return true
        case .searching where hasJoined:
            // What becomes of the one that goes is the last word here, too.
            ticket?.isCutOff = true
            return false
        case .attempting, .offering, .parked, .collecting, .searching, .preflight: break
        }
        guard let turn = ticket, !turn.isHeard, !isReceivingRequest, phase.isPending, request.purpose == .transfer
        else {
            tellCutOff()
            return true
        }
        // The attempt under way becomes that of the ticket; what becomes of it, the ticket tells.
        ticket?.isCutOff = true
        becomeTicket(isLast: true)
        return false
    }

    /// Nothing of one that has joined another was ever sent, so that can be said.
    func settlingIsOver() {
        if hasJoined { tellCutOff() }
    }

    /// There is no ticket for it after all.
    func tellIfCutOff() {
        guard ticket?.isCutOff == true else { return }
        tellCutOff()
        loop.settled(self)
    }

    private func tellCutOff() {
        guard phase != .delivering, phase != .ended else { return }
        let mayHaveBeenSent =
            rules.counts.mayHaveBeenApplied || attempt?.hasBegunSending.load(ordering: .acquiring) == true
        offered = nil
        cancelAttempt()
        request.body?.breakOff()
        fail(.cutOff(mayHaveBeenSent: mayHaveBeenSent))
    }
}
