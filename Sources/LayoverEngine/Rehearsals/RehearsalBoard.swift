package import LayoverCore
import Synchronization

/// The rehearsals under way, as the event loops see them. The engine writes it.
///
/// While there is none an attempt costs one relaxed load; the lock is for the time of a rehearsal only.
package final class RehearsalBoard: Sendable {
    private let isAny = Atomic<Bool>(false)
    private let shown = Mutex<[Rehearsal]>([])

    package init() {}

    /// Whether no rehearsal is under way. A call of the admin API shows its change before it returns, so requests that its caller makes
    /// afterwards see the change.
    var isEmpty: Bool { !isAny.load(ordering: .relaxed) }

    package func show(_ rehearsals: [Rehearsal]) {
        shown.withLock { $0 = rehearsals }
        isAny.store(!rehearsals.isEmpty, ordering: .releasing)
    }

    /// The one that an attempt at an origin meets.
    func applying(to origin: Origin, now: Timestamp) -> Rehearsal? {
        isEmpty ? nil : shown.withLock { Rehearsals.applying(of: $0, to: origin, now: now) }
    }

    /// Whether the rehearsal is neither over nor stopped.
    func isOn(_ rehearsal: Rehearsal, now: Timestamp) -> Bool {
        !rehearsal.isOver(at: now) && shown.withLock { $0.contains { $0.number == rehearsal.number } }
    }
}
