/// The word of a person that the origin has processed a request, whose response is not known.
package struct Settlement: Sendable, Hashable {
    /// What the person knows of the outcome.
    package struct Outcome: Sendable, Hashable {
        /// The status that the origin is said to have answered with; nil where it is not known.
        package var status: Int?
        /// Words of the person for the client; nil where there are none.
        package var note: String?

        package init(status: Int? = nil, note: String? = nil) {
            self.status = status
            self.note = note
        }
    }

    package var author: CommandAuthor
    package var at: Timestamp
    package var outcome: Outcome

    package init(author: CommandAuthor, at: Timestamp, outcome: Outcome) {
        self.author = author
        self.at = at
        self.outcome = outcome
    }
}
