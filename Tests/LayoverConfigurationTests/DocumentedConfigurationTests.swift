import Foundation
import Testing

@testable import LayoverConfiguration

/// Every configuration that the documentation shows can be loaded.
@Suite struct DocumentedConfigurationTests {
    private static var pages: [URL] {
        let docs = repository.appending(path: "docs")
        let folders = [docs, docs.appending(path: "guides")]
        let files = folders.flatMap { (try? FileManager.default.contentsOfDirectory(at: $0, includingPropertiesForKeys: nil)) ?? [] }
        return [repository.appending(path: "README.md")] + files.filter { $0.pathExtension == "md" }
    }

    /// Blocks of JSON whose members are all sections of a configuration; the others are documents of the API.
    private static func configurations(in page: URL) throws -> [String] {
        let sections = Set(Schema.global.compactMap(\.path.first) + ["policies", "routes"])
        return try String(contentsOf: page, encoding: .utf8).matches(of: #/```json\n((?s).*?)```/#).map { String($0.output.1) }.filter { block in
            guard let object = try? JSONSerialization.jsonObject(with: Data(block.utf8)) as? [String: Any] else { return false }
            return !object.isEmpty && object.keys.allSatisfy(sections.contains)
        }
    }

    @Test func shownConfigurationsAreAccepted() throws {
        var count = 0
        for page in Self.pages {
            for text in try Self.configurations(in: page) {
                // Programs and files that examples name are not on every machine.
                let complaints = complaints(text).filter { !$0.contains("its program is not an executable file") }
                #expect(complaints == [], "\(page.lastPathComponent): \(text)")
                count += 1
            }
        }
        #expect(count > 20)
    }
}
