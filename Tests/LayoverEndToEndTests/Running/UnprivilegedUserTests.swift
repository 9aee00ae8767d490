import Foundation
import Glibc
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// The proxy of a user who is not root, as nearly all of them are: the tests may run as root, to whom the kernel forbids nothing.
    @Suite struct UnprivilegedUserTests {
        @Test func requestsTicketsAndTunnelsWorkWithoutPrivileges() async throws {
            let folder = try TemporaryFolder()
            try folder.write(RunningLayover.quickRetries, to: "config.json")
            var prefix: [String] = []
            var binary: String?
            if getuid() == 0 {
                let nobody = "65534"
                prefix = ["/usr/bin/setpriv", "--reuid=\(nobody)", "--regid=\(nobody)", "--clear-groups", "--"]
                // The folder of the build may be root's alone.
                let copy = folder.file("layover").path
                try FileManager.default.copyItem(atPath: RunningLayover.binary, toPath: copy)
                chmod(folder.url.path, 0o777)
                binary = copy
            }
            let layover = try await RunningLayover.start(in: folder, binary: binary, under: prefix)
            let origin = try await RunningOrigin.start(in: try TemporaryFolder())
            let url = "http://127.0.0.1:\(origin.port)/echo"
            for _ in 1...3 { try await layover.curl("--fail", "--max-time", "30", url).succeed() }
            try await layover.curl("--fail", "--max-time", "30", "--proxytunnel", url + "?tunnel").succeed()
            let ticket = try await layover.curl("--fail", "--max-time", "30", "-H", "Prefer: respond-async, wait=0", url + "?ticket").succeed()
            #expect(ticket.output.contains(#""state""#))
            _ = try await origin.waitForRecord("the ticket is sent") { $0.target == "/echo?ticket" }
            #expect(await layover.stop().status == 0)
        }
    }
}
