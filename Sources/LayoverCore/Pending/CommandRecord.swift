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

extension Entry {
    /// What cancelled an entry.
    package enum CancelCause: Sendable, Hashable {
        case command(CommandRecord)
        /// The response to the question that was asked first.
        case preflight
        /// Its client disconnected, and it could not go on without it.
        case notAdopted(AdoptionObstacle)
        /// A newer request took its place.
        case superseded(by: EntryID)
        /// The proxy was being stopped.
        case stopped
        /// Its client disconnected, and its attempt went on as long as it might.
        case unattended
        /// Its client disconnected.
        case clientLeft
        /// A ticket that an earlier version cancelled: that kept no cause.
        case unknown
    }

    /// What cancelled it; nil where it is not cancelled.
    package var cancelCause: CancelCause? {
        guard state == .cancelled else { return nil }
        // No command follows a cancellation, so the last one is the cause.
        if let lastCommand, lastCommand.name == .cancel { return .command(lastCommand) }
        if attempts.records.last?.verdict == .fail(.preflight) { return .preflight }
        if let adoptionObstacle { return .notAdopted(adoptionObstacle) }
        if let supersededBy { return .superseded(by: supersededBy) }
        if isStopped { return .stopped }
        if isUnattended { return .unattended }
        return ticket == nil ? .clientLeft : .unknown
    }

    /// Whether it ends because the proxy is being stopped.
    var isStopped: Bool { wasStopped || owner.isCache }
}

extension Entry.Owner {
    /// A refresh has no client that could leave: it is cancelled only when the proxy stops.
    fileprivate var isCache: Bool { if case .cache = self { true } else { false } }
}
