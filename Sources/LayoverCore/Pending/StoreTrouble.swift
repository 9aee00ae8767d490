/// What is known of a store that did not take the mark of an attempt.
struct StoreTrouble: Sendable {
    /// Until then no ticket goes by itself.
    var until: Timestamp
    /// The ticket that went then, to find out whether the store is well again. While its attempt is under way no other
    /// one goes.
    var probe: EntryID?
}
