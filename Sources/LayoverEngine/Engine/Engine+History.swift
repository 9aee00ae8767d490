import LayoverCore
import Logging
import NIOCore

/// Tickets that ended are kept for a while, so that their clients find the answer, and then removed.
extension Engine {
    /// How often old tickets are looked for. Default: 1 minute.
    private static let historyInterval: TimeAmount = .minutes(1)
    /// Tickets that are removed in one step, so that nothing waits long behind it. Default: 500.
    private static let historyStep = 500

    /// Removes tickets that ended longer ago than that, now and from now on.
    package func keepHistory(for history: Duration) {
        tickets.history = history
        removeOld(history)
        leaveSign()
        eventLoop.scheduleRepeatedTask(initialDelay: Self.historyInterval, delay: Self.historyInterval) { _ in
            self.assumeIsolated {
                $0.removeOld(history)
                $0.leaveSign()
            }
        }
    }

    /// How often the disk is told the time while no ticket is live. Default: 10 minutes.
    private static let idleSignInterval: Duration = .seconds(600)

    /// Tells the disk how late it is: what passes between this and the next boot of the machine was not measured.
    private func leaveSign() {
        let now = clock.now()
        let isIdle = pending.count == 0 && tickets.lastSign.map { now - $0 < Self.idleSignInterval } ?? false
        guard let store, !isIdle, store.condition.failure == nil else { return }
        tickets.lastSign = now
        store.commit([.seen(Timestamp(nanoseconds: now.nanoseconds &+ tickets.clock.offset))]) { _ in }
    }

    private func removeOld(_ history: Duration) {
        guard let store, !isRemovingOld else { return }
        isRemovingOld = true
        let before = Timestamp(nanoseconds: clock.now().nanoseconds &+ tickets.clock.measuredOffset) + (.zero - history)
        Task {
            do throws(StoreFailure) {
                while try await store.removeEnded(before: before, limit: Self.historyStep) == Self.historyStep {}
            } catch {
                self.logger.warning("cannot remove old tickets", metadata: ["error": "\(error)"])
            }
            self.isRemovingOld = false
        }
    }
}
