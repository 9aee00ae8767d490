/// Why a request cannot go on without its client, though its policy says so (`clientGone: adopt`): a request that is sent
/// later needs all of its body.
package enum AdoptionObstacle: String, Sendable, Hashable, CaseIterable {
    /// The body of the request is longer than `limits.bodyMax`.
    case bodyTooLong
    /// The body could not be kept: the disk, or `limits.spoolTotal`, had no room for it.
    case bodyNotKept

    /// The clause to write after "because".
    package var clause: String {
        switch self {
        case .bodyTooLong: "its body exceeds limits.bodyMax"
        case .bodyNotKept: "its body could not be stored: the disk is full or limits.spoolTotal is reached"
        }
    }
}
