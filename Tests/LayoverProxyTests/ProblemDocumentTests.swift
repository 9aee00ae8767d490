import LayoverCore
import Testing

@testable import LayoverProxy

@Suite struct ProblemDocumentTests {
    @Test func instanceIsTheEntryAndNoPathOfTheAdminPort() throws {
        var problem = Problem(status: 502, kind: "connection_refused", detail: "Refused.", error: .connectionRefused)
        #expect(!problem.json.contains("instance"))
        let id = try #require(EntryID("0123456789abcdef0123456789abcdef"))
        problem.entry = id
        #expect(problem.json.contains(#""instance":"urn:layover:entry:\#(id)""#), "\(problem.json)")
        #expect(!problem.json.contains("/v1/"), "\(problem.json)")
    }
}
