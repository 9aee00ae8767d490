import Retry

/// One client request and all that is done for it, as far as rules go.
///
/// The exchange counts its attempts and gives the verdict on each failure, the first one and every
/// replay alike. It does not know about other exchanges: when a parked one may go is decided by the
/// `PendingSet`. Contract: section 2 of the semantics.
package struct Exchange: Sendable {
    package let policy: Policy
    /// Attempts made so far.
    package private(set) var attemptCount = 0
    /// Attempts so far that no person asked for.
    package private(set) var automaticAttemptCount = 0

    /// Whether the last attempt was made on a new connection because a kept-alive one had died.
    package var hasTriedNewConnection = false
    /// Whether the attempt under way was given up on purpose, so that it can be made anew at once: the
    /// network changed while it was connecting.
    package var isAbandoned = false

    package init(policy: Policy) { self.policy = policy }

    /// Automatic attempts that are left; nil means no limit.
    package var automaticLeft: Int? {
        policy.automaticAttemptsMax.map { max(0, $0 - automaticAttemptCount) }
    }

    /// Counts an attempt that starts now and returns its number, from 1.
    package mutating func attemptStarted(trigger: AttemptTrigger) -> Int {
        attemptCount += 1
        isAbandoned = false
        if trigger.isAutomatic { automaticAttemptCount += 1 }
        return attemptCount
    }

    /// Counts sendings that libcurl made on its own within the current attempt.
    package mutating func sentAgainWithinAttempt(_ count: Int) {
        attemptCount += count
        automaticAttemptCount += count
    }

    /// Decides what follows a failed attempt. Rows of the contract's table, top to bottom.
    ///
    /// - Parameter generator: Source of jitter. Tests pass a seeded one.
    package func verdict(
        on failure: Failure, sending request: RequestSummary,
        using generator: inout some RandomNumberGenerator
    ) -> Verdict {
        // Past the head there is no going back: the client has begun to read.
        if failure.evidence == .answered { return .fail(.responseBegan) }
        if failure.isStaleConnection, request.isRepeatable, !hasTriedNewConnection {
            return .againOnNewConnection
        }
        if policy.mode == .pass { return .fail(.pass) }
        if isAbandoned, failure.evidence == .neverSent, request.canBeSentFromTheStart {
            // Whatever it failed with says nothing: it was cut off by us, or on a network that is no more.
            return .park(.init(delay: .zero, shutsGate: false))
        }
        guard policy.retryOn.contains(where: { $0.matches(failure) }) else {
            return .fail(.notInRetryOn)
        }
        if failure.evidence == .neverSent {
            guard request.canBeSentFromTheStart else { return .fail(.bodyNotReplayable) }
        } else {
            // Sending it again could act twice upstream, and RFC 9110 section 9.2.2 forbids a proxy to
            // do that on its own.
            guard request.mayBeSentTwice else { return .fail(.maybeApplied) }
            guard request.isRepeatable else { return .fail(.bodyNotReplayable) }
        }
        if automaticLeft == 0 { return .fail(.exhausted) }
        let delay = policy.delay.delay(afterAttempt: attemptCount, using: &generator)
        return .park(.init(delay: delay, shutsGate: failure.shutsGate))
    }
}
