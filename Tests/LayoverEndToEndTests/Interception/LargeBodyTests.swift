import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Bodies of any size pass an intercepted connection unchanged, through a process of bounded size.
    @Suite(.bothPaths) struct InterceptedBodies {
        private static let byteCount = 96 << 20
        private static let growthByteCountMax = 24 << 20

        @Test func slowReadersOfLargeBodiesDoNotFillTheProxy() async throws {
            let (test, origin) = try await InterceptionScene.withOrigin()
            try await test.curl("/echo", "--fail").succeed()
            let idle = test.scene.layover.residentByteCount
            try test.scene.layover.resetPeak()

            // The rate is the client's own brake, as the small reads of /sink are the origin's.
            let file = test.scene.root.file("download").path
            let download = try await test.curl("/large/\(Self.byteCount)", "--http1.1", "--fail", "--limit-rate", "60M", "--output", file).run()
            #expect(download.status == 0, "\(download)")
            let digest = try await Command("sha256sum", [file]).succeed().output.prefix(64)
            #expect(digest == Self.patternDigest)
            let upload = try await test.curl("/sink", "--http1.1", "--fail", "--header", "Expect:", "--upload-file", file).run()
            #expect(upload.status == 0 && upload.output.contains(digest), "\(upload)")

            let growth = test.scene.layover.peakByteCount - idle
            print("the proxy grew by \(growth / 1024) KiB above its \(idle / 1024) KiB at rest")
            #expect(growth < Self.growthByteCountMax)
            withExtendedLifetime(origin) {}
        }

        /// SHA-256 of 96 MiB of the pattern of `origin.py`.
        private static let patternDigest = "5a310b10d915ba9166406006738169f7e56e1e6525cc8ee0a2e608f013c49d57"
    }
}
