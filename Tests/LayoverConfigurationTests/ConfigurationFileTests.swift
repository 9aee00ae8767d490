import Foundation
import Testing

@testable import LayoverConfiguration

@Suite struct ConfigurationFileTests {
    @Test func aFileThatIsNotThereIsOneClearLine() {
        let error = #expect(throws: ConfigurationErrors.self) {
            try ConfigurationLoader.load(file: "/nowhere/config.json")
        }
        #expect(error?.description == "/nowhere/config.json: cannot be read: No such file or directory.")
    }

    @Test func aFolderIsNoFile() {
        let error = #expect(throws: ConfigurationErrors.self) { try ConfigurationLoader.load(file: "/") }
        #expect(error?.description == "/: cannot be read: Is a directory.")
    }

    @Test func endlessFileIsRefused() {
        let error = #expect(throws: ConfigurationErrors.self) {
            try ConfigurationLoader.load(file: "/dev/zero")
        }
        #expect(error?.description == "/dev/zero: cannot be read: the file exceeds 16 MiB.")
    }

    @Test func aLongFileIsReadWhole() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "config.json")
        let text = String(repeating: " \n", count: 100_000) + #"{"proxy": {"identity": "far-away"}}"#
        try text.write(to: file, atomically: true, encoding: .utf8)
        let loaded = try ConfigurationLoader.load(file: file.path)
        #expect(loaded.settings.proxy.identity == "far-away")
        #expect(loaded.settings.store.folder == folder.path)
    }
}
