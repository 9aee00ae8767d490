import Foundation
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverEngine

/// Bodies that an earlier run kept, found again.
struct StoredBodyFileTests {
    private let folder: SpoolFolder
    private static let name = "0123456789abcdef0123456789abcdef.request"
    private static let bytes = (0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 131 &+ $0 >> 9) }

    init() throws { folder = try SpoolFolder() }

    private func kept(_ name: String = Self.name, byteCount: Int) -> CapturedBody {
        CapturedBody(.file(name: name, byteCount: byteCount), limits: .init(), spool: folder.spool())
    }

    @Test func openFileStaysReadableAfterItsRemoval() async throws {
        #expect(FileManager.default.createFile(atPath: folder.path + "/" + Self.name, contents: Data(Self.bytes)))
        let body = kept(byteCount: 5000)
        #expect(await body.opened() == nil)
        try FileManager.default.removeItem(atPath: folder.path + "/" + Self.name)
        #expect(try await BodyTaker(body).whole().bytes == Self.bytes)
        #expect(await kept(byteCount: 5000).opened() == .lost("The body file \(Self.name) is missing from the spool folder."))
    }

    /// A row that somebody wrote by hand must not give other files away.
    @Test(arguments: ["../secret", "secret", "", ".", "0123456789abcdef0123456789abcdef.request/../secret"])
    func onlyFilesWithNamesOfTheSpoolAreOpened(name: String) async throws {
        let secret = folder.path + "/secret"
        #expect(FileManager.default.createFile(atPath: secret, contents: Data(Self.bytes)))
        let body = kept(name, byteCount: 5000)
        #expect(await body.opened() == .lost("The body file ? is missing from the spool folder."))
        #expect(try await BodyTaker(body).whole().end == .brokenOff)
    }
}
