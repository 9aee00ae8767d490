import Foundation
import LayoverTestSupport
import Testing

/// `make mutants` takes half an hour; that its mutants still fit is known in a second.
@Suite struct MutantTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test func everyMutantStillApplies() async throws {
        let result = try await Command("/usr/bin/python3", ["-B", Self.root.appending(path: "scripts/mutate.py").path, "--check"])
            .run(within: .seconds(20))
        #expect(result.status == 0, "\(result.output)")
        let count = try #require(result.output.split(separator: "\n").last?.split(separator: " ").first.flatMap { Int($0) })
        #expect(count >= 40)
    }
}
