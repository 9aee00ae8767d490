import Foundation
import Testing

@Test func theLibraryImportsNothingButTheStandardLibrary() throws {
    let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources/Retry")
        .resolvingSymlinksInPath()
    let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
    var count = 0
    for case let file as URL in files where file.pathExtension == "swift" {
        count += 1
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.prefix(2).contains("import") else { continue }
            #expect(words.last == "Synchronization", "\(file.lastPathComponent): \(line)")
        }
    }
    #expect(count > 15)
}
