package import LayoverCore
import Logging
import Synchronization

/// The engine's side of rehearsals: those under way, what the event loops see of them, and the log lines about them.
struct RehearsalDesk {
    private var rehearsals = Rehearsals()
    private let board: RehearsalBoard
    private let logger: Logger

    init(_ board: RehearsalBoard, _ logger: Logger) {
        self.board = board
        self.logger = logger
    }

    /// The oldest first.
    var current: [Rehearsal] { rehearsals.current }
    var nextEndAt: Timestamp? { rehearsals.nextEndAt }

    mutating func begin(_ order: RehearsalOrder, by author: CommandAuthor, now: Timestamp) throws(RehearsalRefusal) -> Rehearsal {
        let rehearsal = try rehearsals.begin(order, now: now)
        changed("a rehearsal began: an outage is played", rehearsal, by: author)
        return rehearsal
    }

    /// - Returns: The rehearsal; nil: there is none with this number.
    mutating func stop(_ number: Int, by author: CommandAuthor, now: Timestamp) -> Rehearsal? {
        guard let rehearsal = rehearsals.stop(number, now: now) else { return nil }
        changed("a rehearsal was stopped", rehearsal, by: author)
        return rehearsal
    }

    /// Ends those whose time is over.
    ///
    /// - Returns: Whether there were any.
    mutating func advance(to now: Timestamp) -> Bool {
        let over = rehearsals.advance(to: now)
        for rehearsal in over { changed("a rehearsal is over", rehearsal, by: nil) }
        return !over.isEmpty
    }

    /// Logs a warning, because people who look for the reason of failures have to see that these are played.
    private func changed(_ words: Logger.Message, _ rehearsal: Rehearsal, by author: CommandAuthor?) {
        board.show(rehearsals.current)
        var metadata: Logger.Metadata = [
            "rehearsal": "\(rehearsal.number)", "host": "\(rehearsal.order.host)", "fault": "\(rehearsal.order.fault.rawValue)",
        ]
        if let author { metadata["who"] = "\(author.who)" }
        if let from = author?.from { metadata["from"] = "\(from)" }
        logger.warning(words, metadata: metadata)
    }
}

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
