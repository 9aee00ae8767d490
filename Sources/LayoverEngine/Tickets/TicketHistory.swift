import LayoverCore
import Logging
import NIOCore

/// How long ended tickets are kept, so that their clients find the response, and what the engine has done about it.
struct TicketHistory {
    /// How often old tickets are removed. Default: 1 minute.
    static let interval: TimeAmount = .minutes(1)
    /// How often the time is saved while no ticket is live. Default: 10 minutes.
    private static let idleTimeInterval: Duration = .seconds(600)
    /// Most tickets removed in one step, so that other changes do not wait long. Default: 500.
    private static let step = 500

    private let logger: Logger
    /// Nil: there are no tickets.
    private let store: (any PendingStore)?
    /// How long ended tickets are kept. Nil: not yet set.
    var duration: Duration?
    /// When the store was last told the time (`StoreChange.seen`).
    private var timeSavedAt: Timestamp?
    private var isRemovingOld = false

    init(_ logger: Logger, store: (any PendingStore)?) {
        self.logger = logger
        self.store = store
    }

    /// Removes old tickets. Also saves the current time: the time between the last saved one and the next boot of the machine was not
    /// measured.
    ///
    /// - Parameter isIdle: Whether no ticket is live.
    mutating func tend(_ clock: TicketClock, isIdle: Bool, now: Timestamp, for engine: Engine) {
        guard let store, let duration else { return }
        // Before the removal, which runs beside the engine and may take a while.
        if store.condition.failure == nil, savesTime(now: now, isIdle: isIdle) { store.commit([.time(now, by: clock)]) { _ in } }
        guard !isRemovingOld else { return }
        isRemovingOld = true
        let before = Timestamp(nanoseconds: now.nanoseconds &+ clock.measuredOffset) + (.zero - duration)
        Task { [logger] in
            await Self.remove(endedBefore: before, from: store, logger)
            engine.enter { $0.history.isRemovingOld = false }
        }
    }

    /// Whether the time is to be saved now.
    private mutating func savesTime(now: Timestamp, isIdle: Bool) -> Bool {
        if isIdle, let timeSavedAt, now - timeSavedAt < Self.idleTimeInterval { return false }
        timeSavedAt = now
        return true
    }

    /// Removes tickets that ended before a measured time.
    private static func remove(endedBefore end: Timestamp, from store: any PendingStore, _ logger: Logger) async {
        do throws(StoreFailure) {
            while try await store.removeEnded(before: end, limit: step) > 0 {}
        } catch {
            logger.warning("cannot remove old tickets", metadata: ["error": "\(error)"])
        }
    }
}
