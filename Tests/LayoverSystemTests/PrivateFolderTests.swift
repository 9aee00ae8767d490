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

    // MARK: Locks

    private func opened() throws -> CInt {
        let file = open(folder.file("lock").path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        return file
    }

    /// `released` does it now, otherwise the last user lets go.
    @Test(arguments: [false, true]) func lockedFileIsUnlockedOnceItIsReleasedOrUnused(released: Bool) throws {
        let other = try opened()
        defer { close(other) }
        let descriptor = try opened()
        var file: LockedFile? = LockedFile(descriptor)
        #expect(FileLock.take(descriptor, waits: false))
        #expect(!FileLock.take(other, waits: false))
        if released {
            file?.release()
            let isClosed = file?.withDescriptor { $0 == -1 }
            #expect(isClosed == true)
            file?.release()
        } else {
            file = nil
        }
        #expect(FileLock.take(other, waits: false))
    }

    /// A program that is being started has such a copy.
    @Test func closedLockIsFreeAlthoughThereIsACopyOfItsDescriptor() throws {
        let (first, second) = (try opened(), try opened())
        defer { FileLock.close(second) }
        #expect(FileLock.take(first, waits: false))
        #expect(!FileLock.take(second, waits: false))
        let copy = fcntl(first, F_DUPFD_CLOEXEC, 0)
        defer { close(copy) }
        #expect(copy >= 0)
        FileLock.close(first)
        #expect(FileLock.take(second, waits: false))
    }
}
