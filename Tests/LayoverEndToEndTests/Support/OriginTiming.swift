/// When the origin is there.
enum OriginTiming: CaseIterable {
    case already
    /// The port of the origin refuses until the client's request is in the pending set.
    case later
}
