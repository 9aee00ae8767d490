import LayoverCore
import Synchronization

/// The newest commands: who gave each, from where, why, and what became of it.
///
/// It lives as long as the process. The line that the log gets for each command is the record that stays, and a ticket keeps
/// its newest command in the store (decision 47).
final class AuditLog: Sendable {
    /// Default: 1 000, which is less than a MiB.
    static let countMax = 1000

    private struct Kept {
        /// Oldest first; their numbers have no gap.
        var records: [AuditRecord] = []
        var lastNumber = 0
    }

    private let kept = Mutex(Kept())

    /// Gives the record its number.
    func append(_ record: AuditRecord) {
        kept.withLock { kept in
            kept.lastNumber += 1
            var record = record
            record.number = kept.lastNumber
            // Twice as many, so that most records move nothing.
            if kept.records.count >= 2 * Self.countMax { kept.records.removeFirst(Self.countMax) }
            kept.records.append(record)
        }
    }

    /// Newest first.
    func newest() -> [AuditRecord] { kept.withLock { $0.records.suffix(Self.countMax).reversed() } }
}

/// One command.
struct AuditRecord: Sendable {
    /// Counts up from 1 at the start of the process.
    var number = 0
    var at: Timestamp
    /// `retry`, `purge`, `reachability`; `change` for a PATCH.
    var command: String
    var author: CommandAuthor
    /// The incident that it was for.
    var incident: String?
    var note: AuditNote.Content
    /// The status that it was answered with.
    var status: Int
    /// `done`, or the kind of the problem.
    var outcome: String
}

/// What a command says of itself while it is carried out. One for each request, which only its own task writes.
final class AuditNote: Sendable {
    struct Content: Sendable {
        var entry: EntryID?
        /// How many entries it was for, and for how many it was carried out.
        var matched: Int?
        var done: Int?
        /// What else says what was meant.
        var detail: String?
        var reason: String?
    }

    private let kept = Mutex(Content())

    var content: Content { kept.withLock { $0 } }

    func write(_ change: (inout Content) -> Void) { kept.withLock { change(&$0) } }
}

/// A body with the words of a person.
protocol ReasonedRequest {
    var reason: String? { get }
}

extension CommandRequest: ReasonedRequest {}
extension SettleRequest: ReasonedRequest {}
extension BulkRequest: ReasonedRequest {}
extension ReachabilityRequest: ReasonedRequest {}
