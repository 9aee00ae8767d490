/// A PUT that may take the place of older ones to its URL, or give its own to a newer one.
struct PutMark: Sendable {
    var id: EntryID
    var sequence: Int
    var lane: String?
    var preconditions: String?
}
