import Foundation
import LayoverTestSupport
import Testing

@testable import LayoverSystem

struct PrivateFileTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("file").path
    }

    // MARK: Permissions

    /// Does something with the path on a thread that has this umask. False if the machine does not allow it.
    private func underUmask(_ mask: Int, _ action: @escaping @Sendable (String) throws -> Void) async throws -> Bool {
        let path = path
        return try await onOwnThread {
            guard try setUmaskOfThread(mask) else { return false }
            try action(path)
            return true
        }
    }

    @Test(arguments: [0o077, 0o277, 0], [0o600, 0o640, 0o644])
    func newFileHasItsModeUnderAnyUmask(mask: Int, mode: Int) async throws {
        let isDone = try await underUmask(mask) { try PrivateFile.write([1], to: $0, mode: UInt32(mode)) }
        if isDone { #expect(try modeOfFile(path) == mode) }
    }

    @Test(arguments: [(0o077, 0o600), (0o027, 0o640), (0, 0o666)])
    func fileWithoutAModeHasWhatTheUmaskLeaves(mask: Int, mode: Int) async throws {
        let isDone = try await underUmask(mask) { try PrivateFile.write([1], to: $0, mode: nil) }
        if isDone { #expect(try modeOfFile(path) == mode) }
    }

    /// Also while the umask would let everybody read it.
    @Test func draftOfAPrivateFileIsPrivate() async throws {
        let path = path
        let mode: Int? = try await onOwnThread {
            guard try setUmaskOfThread(0) else { return nil }
            let draft = try PrivateFile.Draft([1], for: path)
            defer { draft.remove() }
            return try modeOfFile(draft.path)
        }
        if let mode { #expect(mode == 0o600) }
    }

    /// The link would be replaced for all programs, though it leads to a regular file.
    @Test func linkOfTheSystemIsNoTarget() throws {
        try PrivateFile.write([1], to: path)
        let file = open(path, O_RDWR | O_CLOEXEC)
        defer { close(file) }
        let error = #expect(throws: PrivateFileError.self) { try PrivateFile.checkTarget("/proc/self/fd/\(file)") }
        #expect(error?.step == .kind)
    }

    @Test func draftsOfKilledProcessesAreRemoved() throws {
        let kept = [path, "\(path)2.1a.new", "\(path).1a.newer"]
        for file in kept + ["\(path).1a.new", "\(path).new"] { try PrivateFile.write([1], to: file) }
        PrivateFile.removeDrafts(of: path)
        let left = try names()
        #expect(left.sorted() == kept.map { String($0.split(separator: "/").last ?? "") }.sorted())
    }

    @Test func ownerOfTheDraftIsSetOrTheWriteFails() throws {
        let isRoot = geteuid() == 0
        let owner = PrivateFile.Owner(user: isRoot ? 65534 : 0, group: isRoot ? 65534 : 0)
        guard isRoot else {
            let error = #expect(throws: PrivateFileError.self) { try PrivateFile.Draft([1], for: path, owner: owner) }
            #expect(error?.step == .owner && error?.code == EPERM)
            #expect(try names() == [])
            return
        }
        try PrivateFile.Draft([1], for: path, mode: 0o640, owner: owner).publish()
        let facts = try FileManager.default.attributesOfItem(atPath: path)
        #expect(facts[.ownerAccountID] as? Int == 65534 && facts[.groupOwnerAccountID] as? Int == 65534)
        #expect(try modeOfFile(path) == 0o640)
    }

    // MARK: Replacing

    @Test(arguments: [PrivateFile.Writers.one, .several])
    func oldFileIsReplacedByANewOneAndItsReadersKeepTheOldContent(writers: PrivateFile.Writers) throws {
        try folder.write("old and longer", to: "file")
        #expect(chmod(path, 0o644) == 0)
        let reader = try #require(FileHandle(forReadingAtPath: path))
        try PrivateFile.write(Array("new".utf8), to: path, writers: writers)
        #expect(folder.text(of: "file") == "new")
        #expect(try reader.readToEnd() == Data("old and longer".utf8))
        #expect(try modeOfFile(path) == 0o600)
        #expect(try names() == ["file"])
    }

    @Test func linkAtTheTargetIsReplacedAndItsFileStays() throws {
        try folder.write("other", to: "other")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: folder.file("other").path)
        try PrivateFile.write(Array("new".utf8), to: path)
        #expect(folder.text(of: "other") == "other")
        #expect(folder.text(of: "file") == "new")
        #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: path)) == nil)
    }

    @Test func linkAtTheDraftIsNotFollowed() throws {
        try folder.write("other", to: "other")
        try FileManager.default.createSymbolicLink(atPath: path + ".new", withDestinationPath: folder.file("other").path)
        try PrivateFile.write(Array("new".utf8), to: path, writers: .one)
        #expect(folder.text(of: "other") == "other")
        #expect(folder.text(of: "file") == "new")
        #expect(try names() == ["file", "other"])
    }

    @Test func draftOfAKilledProcessIsReplaced() throws {
        try folder.write("half of something long", to: "file.new")
        try PrivateFile.write(Array("new".utf8), to: path, writers: .one)
        #expect(folder.text(of: "file") == "new")
        #expect(try names() == ["file"])
    }

    @Test func manyWritersAtOnceLeaveTheWholeContentOfOneOfThem() async throws {
        let path = path
        try await withThrowingTaskGroup(of: Void.self) { group in
            for byte in UInt8(1)...8 {
                group.addTask {
                    try await onOwnThread { try PrivateFile.write([UInt8](repeating: byte, count: 100_000), to: path) }
                }
            }
            try await group.waitForAll()
        }
        let bytes = try PrivateFile.read(path).bytes
        #expect(bytes.count == 100_000 && Set(bytes).count == 1)
        #expect(try names() == ["file"])
    }

    // MARK: Failures

    @Test func folderAtTheTargetIsAnErrorAndStays() throws {
        try folder.write("inside", to: "file/inside")
        let error = #expect(throws: PrivateFileError.self) { try PrivateFile.write([1], to: path) }
        #expect(error?.step == .kind && error?.code == EISDIR)
        #expect(error?.description == "Cannot use \(path): Is a directory.")
        #expect(folder.text(of: "file/inside") == "inside")
        #expect(try names() == ["file"])
    }

    @Test func pipeAtTheTargetIsAnErrorAndStays() throws {
        #expect(mkfifo(path, 0o600) == 0)
        let error = #expect(throws: PrivateFileError.self) { try PrivateFile.write([1], to: path) }
        #expect(error?.step == .kind)
        #expect(error?.description == "Cannot use \(path): it is not a regular file.")
        #expect(try names() == ["file"])
    }

    @Test(arguments: [PrivateFile.Writers.one, .several])
    func folderThatIsAFileIsAnError(writers: PrivateFile.Writers) throws {
        try folder.write("a file", to: "file")
        let error = #expect(throws: PrivateFileError.self) { try PrivateFile.write([1], to: path + "/inside", writers: writers) }
        #expect(error?.step == .create && error?.code == ENOTDIR)
        #expect(folder.text(of: "file") == "a file")
    }

    /// The target becomes a folder in between, so rename(2) refuses it; permissions do not stop root.
    @Test func failedRenameLeavesTheTargetAndNoDraft() throws {
        let draft = try PrivateFile.Draft([1], for: path)
        try folder.write("inside", to: "file/inside")
        let error = #expect(throws: PrivateFileError.self) { try draft.publish() }
        #expect(error?.step == .rename && error?.code == EISDIR && error?.path == path)
        #expect(folder.text(of: "file/inside") == "inside")
        #expect(try names() == ["file"])
    }

    @Test func draftThatIsLostLeavesTheOldFile() throws {
        try folder.write("old", to: "file")
        let draft = try PrivateFile.Draft([1], for: path)
        unlink(draft.path)
        let error = #expect(throws: PrivateFileError.self) { try draft.publish() }
        #expect(error?.step == .rename && error?.code == ENOENT)
        #expect(folder.text(of: "file") == "old")
    }

    @Test func removedDraftLeavesTheOldFile() throws {
        try folder.write("old", to: "file")
        let draft = try PrivateFile.Draft([1], for: path)
        #expect(draft.path.hasPrefix(path + ".") && draft.path.hasSuffix(".new"))
        draft.remove()
        #expect(folder.text(of: "file") == "old")
        #expect(try names() == ["file"])
    }

    // MARK: One call that takes a part

    @Test func shortAndInterruptedWritesAreContinued() {
        let bytes = (0..<100).map { UInt8($0) }
        var (taken, callCount): ([UInt8], Int) = ([], 0)
        let code = PrivateFile.Draft.writeAll(bytes) { rest in
            callCount += 1
            if callCount.isMultiple(of: 3) {
                errno = EINTR
                return -1
            }
            let part = rest.prefix(7)
            taken += part
            return part.count
        }
        #expect(code == 0)
        #expect(taken == bytes)
    }

    @Test(arguments: [(-1, EDQUOT, EDQUOT), (-1, EIO, EIO), (0, EINTR, ENOSPC)])
    func failedWriteEndsWithItsCode(result: Int, number: Int32, expected: Int32) {
        var callCount = 0
        let code = PrivateFile.Draft.writeAll([1, 2, 3]) { _ in
            callCount += 1
            errno = number
            return callCount == 1 ? 1 : result
        }
        #expect(code == expected)
        #expect(callCount == 2)
    }

    // MARK: Reading

    @Test func contentComesWithItsMode() throws {
        try folder.write("content", to: "file")
        #expect(chmod(path, 0o640) == 0)
        let content = try PrivateFile.read(path)
        #expect(content.bytes == Array("content".utf8))
        #expect(content.mode == 0o640)
    }

    @Test func fileOfAnySizeUpToTheLimitIsRead() throws {
        for count in [1, 0, 65_535, 65_536, 65_537, 200_000] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            try PrivateFile.write(bytes, to: path)
            #expect(try PrivateFile.read(path, byteCountMax: count).bytes == bytes)
            #expect(try PrivateFile.head(of: path, byteCount: 16) == Array(bytes.prefix(16)))
            guard count > 0 else { continue }
            let error = #expect(throws: PrivateFileError.self) { try PrivateFile.read(path, byteCountMax: count - 1) }
            #expect(error?.step == .size && error?.code == EFBIG)
        }
    }

    @Test func missingFileIsAnErrorWithItsReason() {
        let error = #expect(throws: PrivateFileError.self) { try PrivateFile.read(path) }
        #expect(error?.step == .read && error?.code == ENOENT)
        #expect(error?.description == "Cannot read \(path): No such file or directory.")
    }

    @Test func linkIsFollowedForReading() throws {
        try folder.write("content", to: "other")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: folder.file("other").path)
        #expect(try PrivateFile.read(path).bytes == Array("content".utf8))
    }

    @Test func pipeWithoutAWriterIsAnErrorAtOnce() {
        #expect(mkfifo(path, 0o600) == 0)
        let error = #expect(throws: PrivateFileError.self) { try PrivateFile.read(path) }
        #expect(error?.step == .kind)
    }

    @Test func endlessDeviceIsReadUpToTheLimit() throws {
        let error = #expect(throws: PrivateFileError.self) { try PrivateFile.read("/dev/zero", acceptsPipes: true) }
        #expect(error?.step == .size)
        #expect(try PrivateFile.read("/dev/null", acceptsPipes: true).bytes == [])
        #expect(throws: PrivateFileError.self) { try PrivateFile.read("/dev/null") }
    }

    // MARK: Empty files

    @Test func missingFileIsMadePrivateAndEmpty() async throws {
        let isDone = try await underUmask(0) { try PrivateFile.make($0) }
        if !isDone { try PrivateFile.make(path) }
        #expect(try PrivateFile.read(path).bytes == [])
        #expect(try modeOfFile(path) == 0o600)
    }

    @Test(arguments: [(0o644, 0o600), (0o660, 0o600), (0o600, 0o600), (0o400, 0o400)])
    func existingFileKeepsItsContentAndLosesTheRightsOfOthers(before: Int, after: Int) throws {
        try folder.write("content", to: "file")
        for action in [{ PrivateFile.restrict(path) }, { try PrivateFile.make(path) }] as [() throws -> Void] {
            // Only root may write to a file of mode 400.
            guard before & 0o200 != 0 || geteuid() == 0 else { return }
            #expect(chmod(path, mode_t(before)) == 0)
            try action()
            #expect(try modeOfFile(path) == after)
            #expect(folder.text(of: "file") == "content")
        }
    }

    @Test func linkInsteadOfAnEmptyFileIsRefused() throws {
        try folder.write("content", to: "other")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: folder.file("other").path)
        let error = #expect(throws: PrivateFileError.self) { try PrivateFile.make(path) }
        #expect(error?.step == .create && error?.code == ELOOP)
    }

    private func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() }
}

/// Gives the calling thread a umask of its own: that of a process belongs to all its threads (unshare(2), CLONE_FS).
///
/// - Returns: False if the machine does not allow it, as a container without rights does.
private func setUmaskOfThread(_ mask: Int) throws -> Bool {
    typealias Unshare = @convention(c) (_ flags: Int32) -> Int32
    // Swift's Glibc module does not show unshare(2), so it is looked up by name. CLONE_FS is of <linux/sched.h>.
    let symbol = try #require(dlsym(nil, "unshare"))
    guard unsafeBitCast(symbol, to: Unshare.self)(0x200) == 0 else {
        print("SKIPPED: no umask of a thread: errno \(errno)")
        return false
    }
    umask(mode_t(mask))
    return true
}
