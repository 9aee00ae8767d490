import Foundation
import LayoverTestSupport
import Testing

@testable import LayoverSystem

struct PrivateFolderTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: [("a/b", "a"), ("/a/b", "/a"), ("/a", "/"), ("a", "."), ("", "."), ("a/", "a"), ("/", "/")])
    func folderOfAPathIsThePartBeforeTheLastSlash(path: String, expected: String) {
        #expect(PrivateFolder.of(path) == expected)
    }

    @Test func missingFoldersAreMadePrivateAndExistingOnesKeepTheirMode() throws {
        let before = try modeOfFile(folder.url.path)
        for path in ["one/two/three", "one/two/three/", "one"] { try PrivateFolder.make(folder.file("").path + "/" + path) }
        for name in ["one", "one/two", "one/two/three"] { #expect(try modeOfFile(folder.file(name).path) == 0o700, "\(name)") }
        #expect(try modeOfFile(folder.file("").path) == before)
        #expect(chmod(folder.file("one").path, 0o755) == 0)
        try PrivateFolder.make(folder.file("one").path)
        #expect(try modeOfFile(folder.file("one").path) == 0o755)
    }

    @Test func fileInTheWayIsAnErrorThatNamesTheFolder() throws {
        let path = try folder.write("", to: "file") + "/one"
        let error = #expect(throws: PrivateFileError.self) { try PrivateFolder.make(path) }
        #expect(error?.step == .makeFolder && error?.code == ENOTDIR && error?.path == path)
        #expect(error?.description == "Cannot make the folder \(path): Not a directory.")
    }

    @Test func emptyPathIsAnError() {
        let error = #expect(throws: PrivateFileError.self) { try PrivateFolder.make("") }
        #expect(error?.code == ENOENT)
    }

    @Test func folderIsSyncedAndAMissingOneIsAnError() throws {
        try PrivateFolder.sync(folder.url.path)
        try PrivateFolder.sync(".")
        let error = #expect(throws: PrivateFileError.self) { try PrivateFolder.sync(folder.file("missing").path) }
        #expect(error?.step == .openFolder && error?.code == ENOENT)
    }
}
