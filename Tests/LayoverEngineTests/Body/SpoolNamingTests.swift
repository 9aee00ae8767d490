import Glibc
import Testing

@testable import LayoverEngine

/// How a nameless file comes by its name.
struct SpoolNamingTests {
    private let folder: SpoolFolder

    init() throws { folder = try SpoolFolder() }

    private func nameless(_ text: String) throws -> CInt {
        let descriptor = open(folder.path, 0o20000000 | O_DIRECTORY | O_RDWR, 0o600)
        try #require(descriptor >= 0)
        _ = text.withCString { write(descriptor, $0, text.utf8.count) }
        return descriptor
    }

    @Test func aNamelessFileIsNamed() throws {
        let descriptor = try nameless("content")
        defer { close(descriptor) }
        #expect(folder.files.isEmpty)
        #expect(SpoolNaming.name(descriptor, "a", in: FolderSync(path: folder.path)) == .named)
        #expect(try FileContent.read(folder.path + "/a") == Array("content".utf8).withUnsafeBytes { .init($0) })
    }

    /// Where a file had a name and lost it, the kernel gives it no other one (open(2), O_TMPFILE): it is copied.
    @Test func aFileThatCannotBeNamedAfterwardsIsCopied() throws {
        let path = folder.path + "/old"
        let descriptor = open(path, O_CREAT | O_RDWR, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        _ = "content".withCString { write(descriptor, $0, 7) }
        unlink(path)
        #expect(SpoolNaming.name(descriptor, "a", in: FolderSync(path: folder.path)) == .named)
        #expect(folder.files == ["a"])
        #expect(String(decoding: try FileContent.read(folder.path + "/a"), as: UTF8.self) == "content")
    }

    @Test func aNameThatIsTakenIsRefusedAndLeftAlone() throws {
        try FileContent.write(Array("mine".utf8), to: folder.path + "/a")
        let descriptor = try nameless("content")
        defer { close(descriptor) }
        #expect(SpoolNaming.name(descriptor, "a", in: FolderSync(path: folder.path)) == .refused)
        #expect(String(decoding: try FileContent.read(folder.path + "/a"), as: UTF8.self) == "mine")
    }

    /// The kernel tells of an error once; the names from before it may be lost all the same. `/proc` cannot be synced.
    @Test func failedSyncFailsAllEarlierNames() throws {
        let broken = FolderSync(path: "/proc")
        #expect(!broken.sync(failureCount: broken.failureCount))
        #expect(broken.failureCount == 1)
        let sound = FolderSync(path: folder.path)
        #expect(sound.sync(failureCount: sound.failureCount))
        #expect(!sound.sync(failureCount: sound.failureCount - 1))
        #expect(errno == EIO)
    }

    @Test func aFolderThatIsGoneIsRefused() throws {
        let descriptor = try nameless("content")
        defer { close(descriptor) }
        #expect(SpoolNaming.name(descriptor, "a", in: FolderSync(path: folder.path + "/missing")) == .refused)
        #expect(SpoolNaming.name(-1, "a", in: FolderSync(path: folder.path)) == .notSynced)
    }
}
