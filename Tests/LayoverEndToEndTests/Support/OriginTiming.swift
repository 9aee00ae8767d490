/// When the origin is there.
enum OriginTiming: CaseIterable {
    case already
    /// Its port refuses until the client's request is seen in the pending set.
    case later
}
