import Foundation
import Testing

/// The examples in the article are the code of the tests, so that neither can drift.
struct ArticleTests {
    static let rows = [
        "S1a", "S1b", "S1c", "S1d", "S1e", "S1f", "S2a", "S2b", "S2c", "S2d", "S4b", "S4c", "S5a",
    ]
    private static let tests = URL(filePath: #filePath).deletingLastPathComponent()
    private static let article = tests.appending(path: "../../Sources/Retry/Retry.docc/Examples.md")
    private static let readme = tests.appending(path: "../../README.md")

    /// The marked lines of all test files, without indentation and empty lines, by row.
    private static func snippets() throws -> [String: [String]] {
        var snippets: [String: [String]] = [:]
        for name in ["CoordinatorExamplesTests.swift", "PolicyExamplesTests.swift"] {
            var row: String?
            for line in try lines(of: tests.appending(path: name)) {
                if line.hasPrefix("// snippet: ") {
                    row = String(line.dropFirst(12))
                } else if line == "// end" {
                    row = nil
                } else if let row {
                    snippets[row, default: []].append(line)
                }
            }
        }
        return snippets
    }

    /// The code below each heading that begins with a row's name.
    private static func examples() throws -> [String: [String]] {
        var (examples, row, isCode): ([String: [String]], String?, Bool) = ([:], nil, false)
        for line in try lines(of: article) {
            if line.hasPrefix("### ") {
                row = line.dropFirst(4).split(separator: ":").first.map(String.init)
            } else if line.hasPrefix("```") {
                isCode = line == "```swift"
            } else if isCode, let row {
                examples[row, default: []].append(line)
            }
        }
        return examples
    }

    private static func lines(of file: URL) throws -> [String] {
        try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    @Test(arguments: rows)
    func theExampleInTheArticleIsTheOneThatIsTested(row: String) throws {
        let tested = try #require(Self.snippets()[row])
        #expect(try Self.examples()[row] == tested)
        #expect(tested.count > 1)
    }

    @Test func theExampleInTheReadmeIsTheOneThatIsTested() throws {
        let tested = try #require(Self.snippets()["README"]).joined(separator: "\n")
        #expect(try Self.lines(of: Self.readme).joined(separator: "\n").contains("```swift\n\(tested)\n```"))
    }

    @Test func everyRowHasOneTestAndNoExampleIsUntested() throws {
        #expect(try Self.snippets().keys.filter { $0 != "README" }.sorted() == Self.rows)
        #expect(try Self.examples().keys.sorted() == Self.rows)
        let code = try ["CoordinatorExamplesTests.swift", "PolicyExamplesTests.swift"]
            .flatMap { try Self.lines(of: Self.tests.appending(path: $0)) }
        for row in Self.rows {
            #expect(code.count { $0.hasPrefix("@Test func \(row.lowercased())") } == 1, "\(row)")
        }
    }
}
