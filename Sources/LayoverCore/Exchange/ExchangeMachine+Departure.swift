/// The client of an exchange is gone. Contract: section 2 of the semantics, "When a client is gone".
///
/// Most attempts end with their client. One goes on as *unattended*: all of an unsafe request may have reached the origin, and no
/// response has come. Only its outcome is wanted then, so it ends with the head of the response.
extension ExchangeMachine {
    /// State of a request when its client is gone.
    package struct Departure: Sendable {
        package var purpose: RequestPurpose
        package var method: String
        /// Whether all of its body has come.
        package var isComplete: Bool
        /// Whether a byte of it may have left.
        package var hasBegunSending: Bool
        /// Whether requests with the same key may be waiting for the response that has begun.
        package var mayBeShared: Bool
        /// Whether requests with the same key may be waiting for its outcome.
        package var mayBeAwaited: Bool

        package init(
            purpose: RequestPurpose, method: String, isComplete: Bool, hasBegunSending: Bool, mayBeShared: Bool = false,
            mayBeAwaited: Bool = false
        ) {
            self.purpose = purpose
            self.method = method
            self.isComplete = isComplete
            self.hasBegunSending = hasBegunSending
            self.mayBeShared = mayBeShared
            self.mayBeAwaited = mayBeAwaited
        }
    }

    /// Consequence of a client that is gone.
    package enum DepartureStep: Sendable, Hashable {
        /// The exchange ends, and an attempt under way is aborted.
        case end
        /// The attempt goes on until the head of its response, and no longer than this unless others wait for its outcome.
        case unattended(Duration)
        /// The response goes on, as long as others wait for it.
        case share
        /// The client was gone before.
        case none
    }

    package mutating func clientLeft(_ departure: Departure) -> DepartureStep {
        switch phase {
        case .attempting:
            let limit = rules.policy.unattendedMax
            // mutant: safe-without-a-client
            guard mayHaveAnEffect(departure), resumable == nil, limit > .zero || departure.mayBeAwaited else { return .end }
            enter(.unattended)
            // mutant: unattended-too-long
            return .unattended(limit)
        case .delivering:
            // mutant: read-for-nobody
            guard departure.mayBeShared, departure.purpose == .transfer else { return .end }
            enter(.unattended)
            return .share
        case .loading, .collecting, .searching, .accepting, .preflight, .offering, .parked: return .end
        case .unattended, .ended: return .none
        }
    }

    /// The client is gone. The response has come, and only the rest of the request is still to be sent.
    ///
    /// - Returns: The time within which the rest must be sent. `timeouts.unattended` of 0 is for work that nobody wants any more. A success
    ///   may have been reported for this request, so the default applies then.
    package mutating func clientLeftWithItsResponse() -> Duration {
        enter(.unattended)
        let limit = rules.policy.unattendedMax
        return limit > .zero ? limit : Policy.standard.unattendedMax
    }

    /// Whether the attempt under way may have an effect at the origin that is not known yet.
    private func mayHaveAnEffect(_ departure: Departure) -> Bool {
        // mutant: incomplete-without-a-client, unsent-without-a-client
        guard departure.isComplete, departure.hasBegunSending else { return false }
        return departure.purpose == .transfer && !RequestMethod.isSafe(departure.method)
    }

    /// The attempt has failed that went on without its client. No other attempt follows.
    ///
    /// - Returns: The failure as it is recorded.
    package mutating func unattendedFailed(_ failure: Failure, connection: ConnectionFacts? = nil, at now: Timestamp) -> Failure {
        var failure = failure
        if rules.isAborted { failure.becomeAborted() }
        if failure.evidence == .maybeApplied { rules.wasCutOffSending() }
        lastFailure = failure
        record(nil, failure: failure, connection: connection, at: now)
        return failure
    }
}
