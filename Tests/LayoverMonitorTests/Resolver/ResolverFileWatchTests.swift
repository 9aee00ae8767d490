import Foundation
import LayoverTestSupport
import Testing

@testable import LayoverMonitor

struct ResolverFileWatchTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("resolv.conf").path
    }

    /// True if inotify woke the watch, and true if the content had changed.
    private func news(_ watch: inout ResolverFileWatch) -> (isAwake: Bool, hasChanged: Bool) {
        var descriptor = pollfd(fd: watch.descriptor, events: Int16(POLLIN), revents: 0)
        // inotify events are there when the call that caused them returns.
        let isAwake = poll(&descriptor, 1, 0) == 1
        return (isAwake, isAwake ? watch.hasChanged() : false)
    }

    @Test func aFileWrittenInPlaceIsSeenOnceAndItsSameContentIsNoChange() throws {
        try Data("a".utf8).write(to: URL(fileURLWithPath: path))
        var watch = try ResolverFileWatch(path: path)
        defer { watch.close() }
        #expect(news(&watch) == (false, false))
        try folder.write("b", to: "resolv.conf")
        #expect(news(&watch) == (true, true))
        #expect(news(&watch) == (false, false))
        try folder.write("b", to: "resolv.conf")
        #expect(news(&watch) == (true, false))
    }

    @Test func aFileMovedOverItIsSeen() throws {
        try folder.write("a", to: "resolv.conf")
        try folder.write("b", to: "fresh")
        var watch = try ResolverFileWatch(path: path)
        defer { watch.close() }
        for content in ["b", "c"] {
            try folder.write(content, to: "fresh")
            #expect(rename(folder.file("fresh").path, path) == 0)
            #expect(news(&watch) == (true, true))
        }
    }

    @Test func aFileThatComesAndGoesIsSeen() throws {
        var watch = try ResolverFileWatch(path: path)
        defer { watch.close() }
        try folder.write("a", to: "resolv.conf")
        #expect(news(&watch) == (true, true))
        try FileManager.default.removeItem(atPath: path)
        #expect(news(&watch) == (true, true))
        try folder.write("a", to: "resolv.conf")
        #expect(news(&watch) == (true, true))
        #expect(rename(path, folder.file("away").path) == 0)
        #expect(news(&watch) == (true, true))
    }

    @Test func aFileBehindALinkIsSeen() throws {
        let real = try folder.write("a", to: "elsewhere/real.conf")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: real)
        var watch = try ResolverFileWatch(path: path)
        defer { watch.close() }
        try folder.write("b", to: "elsewhere/fresh")
        #expect(rename(folder.file("elsewhere/fresh").path, real) == 0)
        #expect(news(&watch) == (true, true))
    }

    @Test func aLinkThatIsTurnedElsewhereIsSeenAndFollowed() throws {
        let first = try folder.write("a", to: "first/resolv.conf")
        let second = try folder.write("b", to: "second/resolv.conf")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: first)
        var watch = try ResolverFileWatch(path: path)
        defer { watch.close() }
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: second)
        #expect(news(&watch) == (true, true))
        try folder.write("c", to: "second/resolv.conf")
        #expect(news(&watch) == (true, true))
    }

    /// A file mounted into a container: it is written to by another path, which the folder does not show.
    @Test func aFileWrittenByAnotherPathIsSeen() throws {
        let other = try folder.write("a", to: "outside/original")
        try FileManager.default.linkItem(atPath: other, toPath: path)
        var watch = try ResolverFileWatch(path: path)
        defer { watch.close() }
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: other))
        file.write(Data("b".utf8))
        try file.close()
        #expect(news(&watch) == (true, true))
    }
}
