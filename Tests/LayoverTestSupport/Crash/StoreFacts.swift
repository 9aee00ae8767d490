import Foundation

/// Content of a store that no process has open, read without any of Layover's code.
package struct StoreFacts: Sendable, Codable {
    /// Result of SQLite's integrity check; "ok" if the file is sound.
    package var integrity: String
    package var states: [String: Int]
    /// Requests that are kept; none of a ticket that has ended.
    package var requestRows: Int
    /// Files of the spool that no row names.
    package var leftFiles: [String]
    /// Files that a row names and that are not there.
    package var missingFiles: [String]

    package static func read(in folder: TemporaryFolder) async throws -> StoreFacts {
        let result = try await Command(
            "/usr/bin/python3",
            ["-B", Fixtures.path("store_facts.py"), folder.file("layover.sqlite").path, folder.file("spool").path]
        ).succeed()
        return try JSONDecoder().decode(StoreFacts.self, from: Data(result.output.utf8))
    }
}
