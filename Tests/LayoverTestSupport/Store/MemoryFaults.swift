package import LayoverEngine

/// Faults of a `MemoryStore`.
package struct MemoryFaults: Sendable {
    /// Commits that fail, by their number from 1. With `mayBeKept` the changes are there after a restart, unless a
    /// later commit succeeds before it.
    package var failures: [Int: StoreFailure]
    /// The failure of every commit; evaluated at each. Default: nil, no failure.
    package var trouble: @Sendable () -> StoreFailure?
    /// The failure of a call with these changes, as at a damaged page, while the other calls of the commit may succeed;
    /// evaluated for each call. Default: nil, no failure.
    package var refusal: @Sendable ([StoreChange]) -> StoreFailure? = { _ in nil }
    /// The failure of every reading of a request; evaluated at each. Default: nil, no failure.
    package var unreadable: @Sendable () -> StoreFailure? = { nil }
    /// The failure of every search for a key; evaluated at each. Default: nil, no failure.
    package var unsearchable: @Sendable () -> StoreFailure? = { nil }
    /// The point at which the process dies, from 1. Each commit has three: before it, after it, and when half of
    /// those who wait for it have been told.
    package var crashPoint: Int?
    /// Told when it dies.
    package var died: @Sendable () -> Void

    package init(
        failures: [Int: StoreFailure] = [:], crashPoint: Int? = nil, died: @escaping @Sendable () -> Void = {},
        trouble: @escaping @Sendable () -> StoreFailure? = { nil }
    ) {
        self.failures = failures
        self.crashPoint = crashPoint
        self.died = died
        self.trouble = trouble
    }

    func failure(ofCommit number: Int) -> StoreFailure? { trouble() ?? failures[number] }
}
