import Foundation
import Testing

@testable import LayoverConfiguration

final class ConfigurationRewritingTests {
    private let folder: String
    private let path: String

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "layover-test-\(UUID().uuidString)").path
        path = folder + "/config.json"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try "old".write(toFile: path, atomically: true, encoding: .utf8)
        chmod(path, 0o640)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    private var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() } }

    @Test func fileIsReplacedWithItsPermissions() throws {
        var checked = ""
        try ConfigurationRewriting(path).replace(with: Array("new".utf8)) { checked = try text($0) }
        #expect(checked == "new")
        #expect(try text(path) == "new")
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o640)
        #expect(try names == ["config.json"])
    }

    /// A configuration is often a link into a folder under version control.
    @Test func linkStaysAndItsFileIsReplaced() throws {
        let link = folder + "/link.json"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "config.json")
        try ConfigurationRewriting(link).replace(with: Array("new".utf8)) { _ in }
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "config.json")
        #expect(try text(path) == "new")
        #expect(try names == ["config.json", "link.json"])
    }

    @Test func refusedDraftLeavesTheOldFile() throws {
        struct Refusal: Error {}
        #expect(throws: Refusal.self) {
            try ConfigurationRewriting(path).replace(with: Array("new".utf8)) { _ in throw Refusal() }
        }
        #expect(try text(path) == "old")
        #expect(try names == ["config.json"])
    }

    /// A file of the user that has the name of a draft.
    @Test func otherFilesInTheFolderStay() throws {
        try "mine".write(toFile: path + ".new", atomically: true, encoding: .utf8)
        try ConfigurationRewriting(path).replace(with: Array("new".utf8)) { _ in }
        #expect(try text(path + ".new") == "mine")
        #expect(try names == ["config.json", "config.json.new"])
    }
}
