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
