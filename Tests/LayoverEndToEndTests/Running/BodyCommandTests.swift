import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// `layover body` and `layover response`: every byte, by the real binary.
    @Suite struct BodyCommandTests {
        @Test func bodiesAreWrittenByteForByte() async throws {
            let scene = try await Scene()
            let sent = (0..<300_000).map { _ in UInt8.random(in: 0...255) }
            let folder = try TemporaryFolder()
            try Data(sent).write(to: folder.file("sent"))
            let accepted = try await scene.layover.curl(
                "--fail", "-H", "Prefer: respond-async, wait=0", "--data-binary", "@\(folder.file("sent").path)", scene.url("/echo")
            ).succeed()
            // The attempt may be under way already.
            #expect(accepted.output.contains("waiting") || accepted.output.contains("attempting"))
            let id = try #require(try await scene.layover.waitForPending { $0.data.count == 1 }.data.first?.id)
            let target = folder.file("body").path
            // The token lies in the folder of the instance.
            let binary = RunningLayover.binary
            let folders = ["RUNTIME_DIRECTORY": scene.layover.folder.url.path, "STATE_DIRECTORY": scene.layover.folder.url.path]
            try await Command("/bin/sh", ["-c", "\"$0\" body \"$1\" > \"$2\"", binary, id, target]).with(folders).succeed()
            #expect(try Data(contentsOf: folder.file("body")) == Data(sent))

            let early = try await Command(binary, ["response", id]).with(folders).run()
            #expect(early.status == 3, "it is not delivered yet")
            let origin = try await scene.startOrigin()
            try await scene.layover.waitForPending("it is delivered") { $0.data.isEmpty }
            let response = try await Command(binary, ["response", id]).with(folders).succeed()
            #expect(!response.output.isEmpty && origin.records.count == 1)
        }
    }
}
