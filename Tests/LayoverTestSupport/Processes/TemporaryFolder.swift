package import Foundation

/// A folder of one test, removed with its last user.
package final class TemporaryFolder: Sendable {
    package let url: URL

    package init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("layover-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    package func file(_ name: String) -> URL {
        url.appendingPathComponent(name)
    }

    /// Writes a text file and gives its path.
    @discardableResult
    package func write(_ text: String, to name: String) throws -> String {
        let file = file(name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        return file.path
    }

    package func text(of name: String) -> String {
        (try? String(contentsOf: file(name), encoding: .utf8)) ?? ""
    }
}
