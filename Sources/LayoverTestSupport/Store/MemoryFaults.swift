package import LayoverEngine

/// What goes wrong with a `MemoryStore`.
package struct MemoryFaults: Sendable {
    /// Commits that fail, by their number from 1. With `mayBeKept` the changes are there after a restart, unless a
    /// later commit succeeds before it.
    package var failures: [Int: StoreFailure]
    /// What every commit fails with for the time being; asked at each. Default: nothing.
    package var trouble: @Sendable () -> StoreFailure?
    /// What a call with such changes fails with, as one that meets a damaged page does, whatever becomes of the others of its
    /// commit; asked for each call. Default: nothing.
    package var refusal: @Sendable ([StoreChange]) -> StoreFailure? = { _ in nil }
    /// What every reading of a request fails with; asked at each. Default: nothing.
    package var unreadable: @Sendable () -> StoreFailure? = { nil }
    /// What every search for a key fails with; asked at each. Default: nothing.
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
