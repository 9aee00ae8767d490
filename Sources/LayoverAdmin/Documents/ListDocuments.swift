/// One page of the pending set.
package struct PendingDocument: Codable, Sendable {
    package var data: [EntryDocument]
    /// Of the whole set, whatever the filter.
    package var counts: [String: Int]
    @OrNull package var nextCursor: String?
}

/// The result of a command for many entries.
package struct BulkDocument: Codable, Sendable {
    package struct Result: Codable, Sendable {
        package var id: String
        /// The HTTP status that the command for this entry alone would have been answered with.
        package var status: Int
    }

    /// Live entries that were meant.
    package var matched: Int
    /// Those for which the command was carried out.
    package var done: Int
    /// One for each id, in the order given; empty if the entries were selected otherwise.
    package var results: [Result]
    /// After `retry`: how many of those done go when. Left out for other commands and dry runs.
    package var willGo: [String: Int]?
    /// With `parkedBefore`: how many match that were parked since, and were left alone. Left out without it.
    package var later: Int?
}

/// The name and version of the program.
package struct VersionDocument: Codable, Sendable {
    package var name: String
    package var version: String
}

/// The state of the process, in one word.
package struct HealthDocument: Codable, Sendable {
    package var status: String
}
