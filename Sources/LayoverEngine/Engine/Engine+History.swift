import LayoverCore
import Logging
import NIOCore

/// Ended tickets are kept for a while, so that their clients find the response, and are then removed.
extension Engine {
    /// How often old tickets are removed. Default: 1 minute.
    private static let historyInterval: TimeAmount = .minutes(1)
    /// Most tickets removed in one step, so that other changes do not wait long. Default: 500.
    private static let historyStep = 500

    /// Removes tickets that ended longer ago than that: now, and every minute.
    package func keepHistory(for history: Duration) {
        self.history = history
        removeOld(history)
        saveTime()
        eventLoop.scheduleRepeatedTask(initialDelay: Self.historyInterval, delay: Self.historyInterval) { _ in
            self.assumeIsolated {
                $0.removeOld(history)
                $0.saveTime()
            }
        }
    }

    /// How often the time is saved while no ticket is live. Default: 10 minutes.
    private static let idleTimeInterval: Duration = .seconds(600)

    /// Saves the current time: the time between the last saved one and the next boot of the machine was not measured.
    private func saveTime() {
        let now = clock.now()
        let isIdle = pending.count == 0 && timeSavedAt.map { now - $0 < Self.idleTimeInterval } ?? false
        guard let store, !isIdle, store.condition.failure == nil else { return }
        timeSavedAt = now
        store.commit([.seen(Timestamp(nanoseconds: now.nanoseconds &+ ticketClock.offset))]) { _ in }
    }

    private func removeOld(_ history: Duration) {
        guard let store, !isRemovingOld else { return }
        isRemovingOld = true
        let before = Timestamp(nanoseconds: clock.now().nanoseconds &+ ticketClock.measuredOffset) + (.zero - history)
        Task {
            do throws(StoreFailure) {
                while try await store.removeEnded(before: before, limit: Self.historyStep) > 0 {}
            } catch {
                self.logger.warning("cannot remove old tickets", metadata: ["error": "\(error)"])
            }
            self.isRemovingOld = false
        }
    }
}
