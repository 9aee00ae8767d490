import Foundation
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverEngine

/// Bodies that an earlier run kept, found again.
struct StoredBodyFileTests {
    private let bench: BodyBench
    private static let bytes = BodyBench.pattern(5000)
    private static let file = StoredBody.file(name: BodyBench.name, byteCount: 5000)

    init() throws { bench = try BodyBench() }

    @Test func openFileStaysReadableAfterItsRemoval() async throws {
        #expect(FileManager.default.createFile(atPath: bench.path(), contents: Data(Self.bytes)))
        let body = bench.kept(Self.file)
        #expect(await body.opened() == nil)
        try FileManager.default.removeItem(atPath: bench.path())
        #expect(try await BodyTaker(body).whole().bytes == Self.bytes)
        #expect(await bench.kept(Self.file).opened() == .lost("The body file \(BodyBench.name) is missing from the spool folder."))
    }

    /// A row that somebody wrote by hand must not give other files away.
    @Test(arguments: ["../secret", "secret", "", ".", "0123456789abcdef0123456789abcdef.request/../secret"])
    func onlyFilesWithNamesOfTheSpoolAreOpened(name: String) async throws {
        let secret = bench.folder.path + "/secret"
        #expect(FileManager.default.createFile(atPath: secret, contents: Data(Self.bytes)))
        let body = bench.kept(.file(name: name, byteCount: 5000))
        #expect(await body.opened() == .lost("The body file ? is missing from the spool folder."))
        #expect(try await BodyTaker(body).whole().end == .brokenOff)
    }
}
