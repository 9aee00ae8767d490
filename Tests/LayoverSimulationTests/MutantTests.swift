import Foundation
import Testing

/// `make mutants` takes half an hour; that its patches still fit is known in a second.
@Suite struct MutantTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static var patches: [String] {
        let folder = root.appending(path: "Tests/Mutants")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasSuffix(".patch") }.sorted()
    }

    @Test func everyMutantStillFits() throws {
        #expect(Self.patches.count >= 20)
        for name in Self.patches {
            let patch = Process()
            patch.executableURL = URL(filePath: "/usr/bin/env")
            patch.arguments = ["git", "apply", "--check", "Tests/Mutants/\(name)"]
            patch.currentDirectoryURL = Self.root
            try patch.run()
            patch.waitUntilExit()
            #expect(patch.terminationStatus == 0, "Tests/Mutants/\(name) does not fit any more")
        }
    }
}
