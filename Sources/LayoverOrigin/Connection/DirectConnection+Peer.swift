import LayoverEngine
import NIOCore
#if canImport(Glibc)
import Glibc
#endif

extension DirectConnection {
    /// Ends the attempt if the peer is dead. An idle connection is left to keep-alive, and a handshake has a limit of its own.
    func checkPeer(now: NIODeadline) {
        guard let attempt, !isSecuring, isOpen, context?.channel.isActive == true else { return }
        guard let facts = PeerSilence.Facts(of: descriptor) else { return }
        let now = Duration.nanoseconds(Int64(clamping: now.uptimeNanoseconds))
        guard peerSilence.isDead(facts, now: now, limit: attempt.request.timeouts.deadPeer) else { return }
        lost(IOError(errnoCode: ETIMEDOUT, reason: "the peer is dead"))
    }

    /// The network has changed. What was sent and received until now counts.
    func endIfAddressIsGone() {
        guard attempt != nil, isOpen, context?.channel.isActive == true, LocalAddress.isGone(from: descriptor) else { return }
        // After an error response the rest of the request is not missed.
        if receiving.isOver, receiving.isError { finish(trailers: nil) } else { failOnceTaken(.addressGone) }
    }
}
