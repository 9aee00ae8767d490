import Foundation
import Testing

extension EndToEnd.Direct {
    /// Each file of end-to-end tests has a twin, or a reason why it has none.
    @Test func everyFileOfTestsHasATwinOrAReason() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix("Tests.swift") }
            .map { String($0.dropLast("Tests.swift".count)) }
        let listed = DirectCoverage.all.flatMap(\.files)
        #expect(Set(listed).count == listed.count, "each is listed once")
        #expect(Set(names).subtracting(listed).sorted() == [], "files without a twin and without a reason")
        #expect(Set(listed).subtracting(names).sorted() == [], "files that do not exist")
    }
}
