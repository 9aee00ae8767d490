import LayoverCore
import Synchronization

/// The newest commands: who gave each, from where, why, and what became of it.
///
/// It lives as long as the process. The line that the log gets for each command is the record that stays, and a ticket keeps
/// its newest command in the store (decision 47).
final class AuditLog: Sendable {
    /// Commands that are kept. Default: 1 000, which is less than a MiB.
    static let countMax = 1000
    /// Failed logins that are kept, apart from the commands: everybody can make them. Default: 100.
    static let failedLoginCountMax = 100

    private struct Kept {
        /// Oldest first.
        var commands: [AuditRecord] = []
        /// Oldest first.
        var failedLogins: [AuditRecord] = []
        var lastNumber = 0
    }

    private let kept = Mutex(Kept())

    /// Gives the record its number.
    func append(_ record: AuditRecord) {
        kept.withLock { kept in
            kept.lastNumber += 1
            var record = record
            record.number = kept.lastNumber
            if record.isFailedLogin {
                Self.append(record, to: &kept.failedLogins, countMax: Self.failedLoginCountMax)
            } else {
                Self.append(record, to: &kept.commands, countMax: Self.countMax)
            }
        }
    }

    private static func append(_ record: AuditRecord, to records: inout [AuditRecord], countMax: Int) {
        // Twice as many, so that most records move nothing.
        if records.count >= 2 * countMax { records.removeFirst(countMax) }
        records.append(record)
    }

    /// Newest first.
    func newest() -> [AuditRecord] {
        let (commands, failedLogins) = kept.withLock {
            ($0.commands.suffix(Self.countMax), $0.failedLogins.suffix(Self.failedLoginCountMax))
        }
        return (commands + failedLogins).sorted { $0.number > $1.number }
    }
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

    var isFailedLogin: Bool { command == "login" && status >= 400 }
}

/// Details of a command, written while it is carried out. Each request has one, and only its own task writes it.
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
