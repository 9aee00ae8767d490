import Foundation
import Testing

@Test func theLibraryIsPure() throws {
    let sources = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources/LayoverReplay").resolvingSymlinksInPath()
    let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
    var count = 0
    for case let file as URL in files where file.pathExtension == "swift" {
        count += 1
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard let position = words.firstIndex(of: "import"), position <= 1 else { continue }
            guard position == 0 || ["package", "public", "internal", "private", "@preconcurrency", "@_exported"].contains(words[0]) else { continue }
            #expect(["NIOCore", "LayoverHTTP", "FoundationEssentials"].contains(words.last), "\(file.lastPathComponent): \(line)")
        }
    }
    #expect(count > 20)
}
