/// The response of `GET /v1/pending`, as far as the tests look at it.
package struct PendingListing: Sendable, Codable {
    package struct Entry: Sendable, Codable {
        package struct LastFailure: Sendable, Codable {
            package var kind: String
            package var phase: String
            package var evidence: String
            package var message: String
        }

        /// How far a response is that broke off.
        package struct Resume: Sendable, Codable {
            package var done: Int
            package var total: Int
            package var times: Int
        }

        package var id: String
        package var ticket: String?
        package var state: String
        package var waitingFor: String?
        package var why: String?
        package var willGo: String?
        package var waitingOn: String?
        package var method: String
        package var url: String
        package var attempts: Int
        package var bodyReplayable: Bool
        package var lastFailure: LastFailure?
        package var resume: Resume?
    }

    package var data: [Entry]
    package var counts: [String: Int]

    /// How many entries are there that no attempt is under way for.
    package var waitingCount: Int { data.count { $0.state == "waiting" } }
}
