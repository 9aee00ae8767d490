/// How often an exchange was tried, and what that may have done.
package struct AttemptCounts: Sendable, Hashable {
    /// Attempts made so far.
    package var all: Int
    /// Attempts so far that no person asked for.
    package var automatic: Int
    /// Whether any attempt so far may have been applied. It stays so: a later one that never got out changes
    /// nothing about it.
    package var mayHaveBeenApplied: Bool

    package init(all: Int = 0, automatic: Int = 0, mayHaveBeenApplied: Bool = false) {
        self.all = all
        self.automatic = automatic
        self.mayHaveBeenApplied = mayHaveBeenApplied
    }
}
