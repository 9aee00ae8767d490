import Foundation
import Glibc
import LayoverTestSupport
import NIOCore
import NIOPosix
import Testing

@testable import LayoverProxy

/// `proxy.listen: "unix:…"`
struct UnixSocketTests {
    private static func with(_ test: (String) async throws -> Void) async throws {
        let folder = NSTemporaryDirectory() + "layover-unix-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await test(folder)
    }

    private static func bound(_ path: String, mode: UInt16?, _ test: () async throws -> Void) async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let channel = try await ProxyServer.bindUnix(ServerBootstrap(group: group), path: path, mode: mode)
        try await test()
        try await channel.close()
    }

    private static func mode(of path: String) -> mode_t? {
        var facts = stat()
        return lstat(path, &facts) == 0 ? facts.st_mode : nil
    }

    /// Names that came into a folder, and how: by being made there, or by being moved there; or that were changed there after it.
    private static func arrivals(in folder: String, _ work: () async throws -> Void) async throws -> [String: String] {
        let watch = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        defer { close(watch) }
        #expect(inotify_add_watch(watch, folder, UInt32(IN_CREATE | IN_MOVED_TO | IN_ATTRIB)) >= 0)
        try await work()
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = read(watch, &bytes, bytes.count)
        var arrivals: [String: String] = [:]
        var offset = 0
        // struct inotify_event of inotify(7): wd, mask, cookie, len, name.
        while offset + 16 <= count {
            let (mask, length) = bytes.withUnsafeBytes {
                ($0.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self), Int($0.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self)))
            }
            let name = String(decoding: bytes[(offset + 16)..<(offset + 16 + length)].prefix { $0 != 0 }, as: UTF8.self)
            arrivals[name] = mask & UInt32(IN_ATTRIB) != 0 ? "changed" : mask & UInt32(IN_MOVED_TO) != 0 ? "moved" : "made"
            offset += 16 + length
        }
        return arrivals
    }

    @Test(arguments: [UInt16(0o600), 0o660])
    func socketIsMovedIntoPlaceWithItsPermissions(mode: UInt16) async throws {
        try await Self.with { folder in
            let path = folder + "/proxy.sock"
            let arrivals = try await Self.arrivals(in: folder) {
                try await Self.bound(path, mode: mode) {
                    #expect(Self.mode(of: path) == S_IFSOCK | mode_t(mode))
                    let client = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                        .connect(unixDomainSocketPath: path).get()
                    try await client.close()
                }
            }
            #expect(arrivals["proxy.sock"] == "moved", "with its permissions, not before them")
            #expect(arrivals.count == 2)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["proxy.sock"])
        }
    }

    @Test func socketOfAnEarlierRunIsReplacedButNoOtherFile() async throws {
        try await Self.with { folder in
            let path = folder + "/" + String(repeating: "s", count: 106 - folder.utf8.count)
            #expect(path.utf8.count == 107)
            try await Self.bound(path, mode: nil) {}
            try await Self.bound(path, mode: 0o600) { #expect(Self.mode(of: path) == S_IFSOCK | 0o600) }
            let file = folder + "/file"
            try Data("x".utf8).write(to: URL(fileURLWithPath: file))
            await #expect(throws: IOError.self) { try await Self.bound(file, mode: 0o600) {} }
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "x")
            await #expect(throws: IOError.self) { try await Self.bound(folder + "/none/proxy.sock", mode: nil) {} }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 2)
        }
    }
}
