/// Why a request cannot go on without its client, though its policy says so (`clientGone: adopt`): a request that is sent
/// later needs all of its body.
package enum AdoptionObstacle: String, Sendable, Hashable, CaseIterable {
    /// Its body is longer than `limits.bodyMax`.
    case bodyTooLong
    /// Its body could not be kept: the disk, or `limits.spoolTotal`, had no room for it.
    case bodyNotKept

    /// What to write after "because".
    package var clause: String {
        switch self {
        case .bodyTooLong: "its body exceeds limits.bodyMax"
        case .bodyNotKept: "its body could not be stored: the disk is full or limits.spoolTotal is reached"
        }
    }
}

extension PendingSet {
    /// The client of an entry has left, and the entry cannot go on without it. It ends with the attempt under way, or at once.
    package mutating func notAdopted(_ id: EntryID, _ obstacle: AdoptionObstacle) {
        entries[id]?.adoptionObstacle = obstacle
        entries[id]?.ticketWish = .none
    }
}
