import Foundation
import LayoverCore
import Testing

@testable import LayoverConfiguration

@Suite struct ConfigurationReferenceTests {
    /// To write the tables anew: `UPDATE_DOCS=1 swift test --filter LayoverConfigurationTests`.
    @Test func theTablesOfTheDocumentationAreThoseOfTheKeys() throws {
        let file = repository.appending(path: "docs/configuration.md")
        let document = try String(contentsOf: file, encoding: .utf8)
        let begin = try #require(document.range(of: "<!-- keys: begin"))
        let start = try #require(document.range(of: "-->\n", range: begin.upperBound..<document.endIndex))
        let end = try #require(document.range(of: "<!-- keys: end -->"))
        let expected = "\n" + ConfigurationReference.markdown + "\n"
        let written = String(document[start.upperBound..<end.lowerBound])
        guard written != expected else { return }
        if ProcessInfo.processInfo.environment["UPDATE_DOCS"] == "1" {
            let updated = document[..<start.upperBound] + expected + document[end.lowerBound...]
            try String(updated).write(to: file, atomically: true, encoding: .utf8)
        } else {
            Issue.record("docs/configuration.md is behind the keys; run this test with UPDATE_DOCS=1")
        }
    }

    @Test func theExampleAtTheTopLevelLoadsWithoutWarnings() throws {
        let file = repository.appending(path: "config.json").path
        let loaded = try ConfigurationLoader.load(file: file)
        #expect(loaded.warnings == [])
        #expect(loaded.settings.proxy.listen == .tcp(host: "127.0.0.1", port: 8080))
        #expect(loaded.settings.admin.listen == .tcp(host: "127.0.0.1", port: 8081))
        #expect(loaded.settings.routes.routes.map(\.name) == ["example", "local-network"])
        #expect(loaded.settings.store.encryptsRouteFields, "a copy of the file keeps the default")
    }

    @Test func theExampleAtTheTopLevelNamesEveryKeyThatStandsAlone() throws {
        let file = repository.appending(path: "config.json").path
        let loaded = try ConfigurationLoader.load(file: file)
        for key in Schema.global {
            let path = key.path.joined(separator: ".")
            #expect(loaded.sources[path] == .file(file), "\(path)")
        }
    }

    /// Every JSON block is a whole file.
    @Test(arguments: ["docs/configuration.md", "docs/policies.md"])
    func everyExampleOfTheDocumentationLoadsWithoutWarnings(name: String) throws {
        let document = try String(contentsOf: repository.appending(path: name), encoding: .utf8)
        let blocks = document.components(separatedBy: "```json\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
        #expect(!blocks.isEmpty)
        for block in blocks {
            let loaded = try ConfigurationLoader.load(text: Array(block.utf8), named: name)
            #expect(loaded.warnings == [], "\(block)")
        }
    }

    @Test func policiesPageNamesEveryKeyAndEveryBuiltInPolicy() throws {
        let page = try String(contentsOf: repository.appending(path: "docs/policies.md"), encoding: .utf8)
        for key in Schema.policy {
            let name = try #require(key.path.last)
            #expect(page.contains("`\(name)") || page.contains("\"\(name)\""), "\(name)")
        }
        for policy in Policy.builtIns { #expect(page.contains("| `\(policy.name)` |")) }
    }

    /// The page says which keys a reload changes.
    @Test func thePageOfTheConfigurationNamesWhatAReloadChanges() throws {
        let page = try String(
            contentsOf: repository.appending(path: "docs/configuration.md"), encoding: .utf8)
        let begin = try #require(page.range(of: "## Reload\n"))
        let end = try #require(page.range(of: "\n## All keys", range: begin.upperBound..<page.endIndex))
        let part = page[begin.upperBound..<end.lowerBound]
        for key in Schema.global {
            #expect(
                part.contains("`\(key.path.joined(separator: "."))`") == (key.effect == .atOnce),
                "\(key.path)")
        }
    }
}
