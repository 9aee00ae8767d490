import LayoverCore
import Logging

/// How long ended tickets are kept, so that their clients find the response, and what the engine has done about it.
struct TicketHistory {
    /// How often the time is saved while no ticket is live. Default: 10 minutes.
    private static let idleTimeInterval: Duration = .seconds(600)
    /// Most tickets removed in one step, so that other changes do not wait long. Default: 500.
    private static let step = 500

    /// How long ended tickets are kept. Nil: not yet set.
    var duration: Duration?
    /// When the store was last told the time (`StoreChange.seen`).
    private var timeSavedAt: Timestamp?
    private var isRemovingOld = false

    /// - Parameter isIdle: Whether no ticket is live.
    /// - Returns: Whether the time is to be saved now.
    mutating func savesTime(now: Timestamp, isIdle: Bool) -> Bool {
        if isIdle, let timeSavedAt, now - timeSavedAt < Self.idleTimeInterval { return false }
        timeSavedAt = now
        return true
    }

    /// - Returns: False if a removal is under way.
    mutating func beginRemoval() -> Bool {
        guard !isRemovingOld else { return false }
        isRemovingOld = true
        return true
    }

    mutating func removalEnded() { isRemovingOld = false }

    /// Removes tickets that ended before a measured time.
    static func remove(endedBefore end: Timestamp, from store: any PendingStore, _ logger: Logger) async {
        do throws(StoreFailure) {
            while try await store.removeEnded(before: end, limit: step) > 0 {}
        } catch {
            logger.warning("cannot remove old tickets", metadata: ["error": "\(error)"])
        }
    }
}
