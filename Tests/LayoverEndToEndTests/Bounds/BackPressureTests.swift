import LayoverTestSupport
import Testing

extension EndToEnd {
    /// A body of any size passes through a process of bounded size.
    @Suite(.bothPaths) struct BackPressure {
        private static let bodyByteCount = 1 << 30
        private static let growthByteCountMax = 64 << 20

        @Test func aSlowReaderOfAGibibyteDoesNotFillTheProxy() async throws {
            let (scene, origin) = try await Scene.withOrigin()
            try await scene.layover.curl("--fail", scene.url("/echo")).succeed()
            let idle = scene.layover.residentByteCount
            try scene.layover.resetPeak()
            // The rate is curl's own brake; the origin could send several times as fast.
            let result = try await scene.layover.curl(
                "--fail", "--limit-rate", "250M", "--output", "/dev/null", "--write-out", "%{size_download}",
                scene.url("/large/\(Self.bodyByteCount)")
            ).run(within: .seconds(240))

            #expect(result.status == 0, "\(result)")
            #expect(result.output == String(Self.bodyByteCount))
            expectGrowth(of: scene.layover, above: idle)
            #expect(origin.records.count == 2)
        }

        @Test func aSlowOriginOfAGibibyteUploadDoesNotFillTheProxy() async throws {
            let (scene, origin) = try await Scene.withOrigin()
            try await scene.layover.curl("--fail", scene.url("/echo")).succeed()
            let file = try scene.root.write("", to: "upload")
            try await Command("truncate", ["--size", String(Self.bodyByteCount), file]).succeed()
            let idle = scene.layover.residentByteCount
            try scene.layover.resetPeak()
            // The origin reads 16 KiB at a time and hashes it, which is slower than curl reads zeros.
            let result = try await scene.layover.curl("--fail", "--upload-file", file, scene.url("/sink"))
                .run(within: .seconds(240))

            #expect(result.status == 0, "\(result)")
            #expect(origin.records.last?.length == Self.bodyByteCount)
            expectGrowth(of: scene.layover, above: idle)
        }

        private func expectGrowth(of layover: RunningLayover, above idle: Int) {
            let growth = layover.peakByteCount - idle
            print("the proxy grew by \(growth / 1024) KiB above its \(idle / 1024) KiB at rest")
            #expect(growth < Self.growthByteCountMax)
        }
    }
}
