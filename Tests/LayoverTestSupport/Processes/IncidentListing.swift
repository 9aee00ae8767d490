/// The response of `GET /v1/incidents`, as far as the tests look at it.
package struct IncidentListing: Sendable, Codable {
    package struct Incident: Sendable, Codable {
        package struct Cause: Sendable, Codable {
            package var kind: String
            package var phase: String
        }

        package var id: String
        package var scope: String
        package var origin: String?
        package var cause: Cause?
        package var waiting: Int
        package var automaticLeft: Int?
        package var nextAttemptAt: String?
        package var manualOnly: Bool
        package var actions: [String]
    }

    package var data: [Incident]
}
