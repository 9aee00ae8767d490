/// One trouble as people see it: everything that waits because of the same outage, or everything of one origin that a person has
/// to decide about.
///
/// Opened by the first entry, joined by the rest, closed when none is left. What it shows beside its members is derived from
/// them when it is read.
package struct Incident: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Something is away. Entries whose attempts are used up stay in it.
        case outage
        /// A person has to decide: it may have been applied, was rejected, or lacks something it needs.
        case decision
    }

    /// What is away.
    package enum Scope: Sendable, Hashable {
        /// The network as a whole, or an admin said so.
        case network
        case origin(Origin)
        /// A parent proxy, with all that is reached through it.
        case parentProxy(Origin)
    }

    /// The first failure that was seen in it.
    package struct Cause: Sendable, Hashable {
        package var kind: FailureKind
        package var phase: FailurePhase
    }

    package let id: IncidentID
    package let kind: Kind
    package let scope: Scope
    package let since: Timestamp
    /// Nil while there was no attempt: the gate was shut, or an admin said offline.
    package internal(set) var cause: Cause?
    /// Entries that wait in it.
    package internal(set) var waiting: Int
    /// Automatic attempts until nothing goes on without a person; nil when one of them has no limit. Those
    /// under `onExhausted: ask` ask together, as soon as the first of them has used up its own.
    package internal(set) var automaticLeft: Int?
    /// The most automatic attempts that one entry has in all, the first attempt included. Nil: one entry has no limit.
    package internal(set) var automaticMax: Int?
    /// When the first of them goes by itself; nil when none does.
    package internal(set) var nextAttemptAt: Timestamp?
    /// Whether nothing goes on without a person.
    package internal(set) var manualOnly: Bool

    /// Whether one of them can be retried; `force` is said for each entry.
    var canRetry = true

    /// The commands that are allowed now.
    package var actions: [EntryCommand] { waiting == 0 ? [] : canRetry ? [.retry, .cancel] : [.cancel] }
}

/// The events of incidents, by their names on the event stream.
package enum IncidentEventKind: String, Sendable, Hashable, CaseIterable {
    case opened = "incident.opened"
    case updated = "incident.updated"
    case closed = "incident.closed"
}

/// The name of an incident: 128 random bits, never used again.
package struct IncidentID: Sendable, Hashable, CustomStringConvertible {
    private let bits: EntryID

    package init(using generator: inout some RandomNumberGenerator) { bits = EntryID(using: &generator) }

    /// Reads the text form; nil when it is not one.
    package init?(_ text: some StringProtocol) {
        guard let bits = EntryID(text) else { return nil }
        self.bits = bits
    }

    /// 32 lower-case hexadecimal digits.
    package var description: String { bits.description }
}
