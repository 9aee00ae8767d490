/// What an admin can ask of an entry.
package enum EntryCommand: String, Sendable, Hashable, CaseIterable {
    /// Send it now, whatever its due time.
    case retry
    /// Give it up; the client gets a 503.
    case cancel
    /// Stop its automatic attempts.
    case hold
    /// Let them go on.
    case release
    /// Resend a request that may have been applied. The caller acknowledges that it may act twice.
    case force

    /// End the attempt under way, and keep the entry with the evidence that it had.
    case abort
    /// The origin has processed it, as the caller knows: it ends delivered, without a response.
    case settle

    /// Those for many entries at once. The risk of several requests cannot be acknowledged at once, nor can their outcome be
    /// known at once.
    package static let ofMany: [EntryCommand] = [.retry, .cancel, .hold, .release]

    /// The words that acknowledge the risk of `force`.
    package static let duplicateRisk = "duplicate-risk"
}

extension EntryCommand {
    /// Does to an entry what a person asks for. The entry allows it.
    ///
    /// - Parameter outcome: What the person knows who settles it; other commands need none.
    func apply(
        to entry: Entry, by author: CommandAuthor, reason: String?, outcome: Settlement.Outcome = .init(),
        _ set: inout PendingSet, now: Timestamp
    ) {
        let id = entry.id
        set.amend(id) { $0.lastCommand = CommandRecord(name: self, author: author, at: now, reason: reason) }
        switch self {
        case .retry, .force:
            if entry.why == .parentFailed || entry.why == .maybeApplied { set.excuseParents(of: entry) }
            set.amend(id) { if self == .force { $0.isForced = true } }
            set.giveGrantBack(id, wasMade: false)
            set.transition(id, to: .waiting(.due), now: now)
            set.makeEligible(id, by: .admin)
            set.canaryMayGo(for: entry, now: now)
            set.dispatchLater(entry.origin)
        // Final at once, an attempt in flight included: the loop aborts it.
        case .cancel: set.end(id, as: .cancelled, .cancelled(reason: reason), now: now)
        case .abort:
            set.change(id)
            // The attempt reports its end, and what it proves.
            set.addAction(.abortAttempt(id, isCommanded: true))
        case .settle:
            set.amend(id) { $0.settledBy = Settlement(author: author, at: now, outcome: outcome) }
            // mutant: settled-and-sent
            set.end(id, as: .delivered, .settled(note: outcome.note), now: now)
        case .hold:
            set.amend(id) { $0.isHeldBack = true }
            set.transition(id, to: .held, now: now)
        case .release:
            set.amend(id) { $0.isHeldBack = false }
            set.transition(id, to: .waiting(.due), now: now)
            set.place(id, now: now)
            set.dispatchLater(entry.origin)
        }
    }
}

/// What came of a command.
package enum EntryCommandResult: String, Sendable, Hashable {
    case done
    /// No such entry.
    case unknown
    /// The entry's state does not allow it.
    case conflict
    /// The entry has changed since the caller saw it.
    case stale
    /// The risk of `force` was not acknowledged.
    case unacknowledged
}

/// Who gave a command, as far as that is known.
package struct CommandAuthor: Sendable, Hashable {
    /// `admin`: it had the admin token. `loopback`: it had none, from this machine. `client`: the client of a ticket.
    package var who: String
    /// Address and port of the connection; nil where they are not known.
    package var from: String?

    package init(who: String, from: String? = nil) {
        self.who = who
        self.from = from
    }

    package static let loopback = CommandAuthor(who: "loopback")
    package static let client = CommandAuthor(who: "client")
}

/// A command as it is kept with its request: the newest one, also after a restart.
package struct CommandRecord: Sendable, Hashable {
    package var name: EntryCommand
    package var author: CommandAuthor
    package var at: Timestamp
    /// The words of the person; nil where there are none.
    package var reason: String?

    package init(name: EntryCommand, author: CommandAuthor, at: Timestamp, reason: String? = nil) {
        self.name = name
        self.author = author
        self.at = at
        self.reason = reason
    }
}

/// The word of a person that the origin has processed a request, whose response is not known.
package struct Settlement: Sendable, Hashable {
    /// What the person knows of the outcome.
    package struct Outcome: Sendable, Hashable {
        /// The status that the origin is said to have answered with; nil where it is not known.
        package var status: Int?
        /// Words of the person for the client; nil where there are none.
        package var note: String?

        package init(status: Int? = nil, note: String? = nil) {
            self.status = status
            self.note = note
        }
    }

    package var author: CommandAuthor
    package var at: Timestamp
    package var outcome: Outcome

    package init(author: CommandAuthor, at: Timestamp, outcome: Outcome) {
        self.author = author
        self.at = at
        self.outcome = outcome
    }
}
