import Foundation
import LayoverConfiguration
import Testing

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
    }

    private var repository: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
    }
}
