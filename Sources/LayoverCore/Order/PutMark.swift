/// The newest PUT to a URL.
struct PutMark: Sendable {
    var id: EntryID
    var sequence: Int
    var lane: String?
    var preconditions: String?
}
