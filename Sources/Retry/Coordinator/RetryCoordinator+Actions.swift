import Synchronization

extension RetryCoordinator {
    /// The waiting tasks to resume and the countdown to stop, after the lock is released.
    /// Neither is done under the lock: the cancellation handler of a waiting task takes the lock too.
    private struct Releases {
        var runAgain: [CheckedContinuation<Void, any Error>] = []
        var fail: [CheckedContinuation<Void, any Error>] = []
        var countdown: Task<Void, Never>?
    }

    /// Feeds one fact to the incident and performs the actions.
    func record(_ fact: (inout RetryIncident) -> [RetryIncident.Action]) {
        recordWithState { fact(&$0.incident) }
    }

    /// Feeds one fact, together with what belongs to it, and performs the actions.
    ///
    /// - Returns: Whether there was a fact.
    @discardableResult
    func recordWithState(_ fact: (inout State) -> [RetryIncident.Action]?) -> Bool {
        let releases: Releases? = state.withLock { state in
            guard let actions = fact(&state) else { return nil }
            var releases = Releases()
            for action in actions { perform(action, in: &state, &releases) }
            return releases
        }
        guard let releases else { return false }
        failed.deliver()
        visibilityChanges.deliver()
        releases.countdown?.cancel()
        for waiter in releases.runAgain { waiter.resume() }
        for waiter in releases.fail { waiter.resume(throwing: CancellationError()) }
        return true
    }

    private func perform(
        _ action: RetryIncident.Action, in state: inout State, _ releases: inout Releases
    ) {
        switch action {
        case .show: visibilityChanges.enqueue(true)
        case .hide: visibilityChanges.enqueue(false)
        case .startCountdown(let id, let duration): state.countdown = count(id, down: duration)
        case .stopCountdown: releases.countdown = state.countdown.take()
        case .runAgain(let members):
            releases.runAgain += members.compactMap { state.waiters.removeValue(forKey: $0) }
        case .fail(let members):
            releases.fail += members.compactMap { state.waiters.removeValue(forKey: $0) }
        }
    }

    /// The task does not keep the coordinator alive: it ends when the countdown is stopped or nobody is left
    /// who could be waiting.
    private func count(_ id: RetryIncident.CountdownID, down duration: Duration) -> Task<Void, Never> {
        Task { [weak self, clock] in
            try? await clock.sleep(for: duration)
            guard !Task.isCancelled else { return }
            self?.record { $0.countdownEnded(id) }
        }
    }
}
