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
