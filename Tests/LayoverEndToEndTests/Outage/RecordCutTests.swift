import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Connections to an origin behind TLS that end in the middle of a record.
    @Suite(.bothPaths) struct RecordCut {
        private static let total = 3 << 20

        @Test func everyByteComesAlthoughRecordsAreCut() async throws {
            try await Self.withOrigin { layover, folder, bytes, seed in
                let file = folder.file("download").path
                let result = try await Command(
                    "curl", ["--silent", "--show-error", "--fail", "-o", file, "\(layover.proxyURL)/.layover/route/cut/file"]
                ).run()
                #expect(result.status == 0, "seed \(seed): \(result)")
                #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == bytes, "seed \(seed)")
                let metrics = try await Command("curl", ["--silent", "\(layover.adminURL)/metrics"]).run().output
                let count = metrics.split(separator: "\n").first { $0.hasPrefix("layover_resumed_responses_total ") }?.split(separator: " ").last
                #expect(count.flatMap { Int($0) } ?? 0 >= 10, "seed \(seed)")
            }
        }

        /// Only close_notify ends a response without a length: the client of a cut one is cut off as well.
        @Test func responseWithoutALengthThatIsCutIsNotTakenForAWholeOne() async throws {
            try await Self.withOrigin { layover, folder, bytes, seed in
                let file = folder.file("download").path
                let result = try await Command(
                    "curl", ["--silent", "--show-error", "-o", file, "\(layover.proxyURL)/.layover/route/cut/endless"]
                ).run()
                #expect([18, 56].contains(result.status), "seed \(seed): \(result)")
                let came = try Data(contentsOf: URL(fileURLWithPath: file))
                #expect(!came.isEmpty && came.count < bytes.count && bytes.starts(with: came), "seed \(seed)")
            }
        }

        private static func withOrigin(
            _ body: (RunningLayover, TemporaryFolder, Data, _ seed: UInt64) async throws -> Void
        ) async throws {
            let seed = UInt64.random(in: 1...999_999)
            var chance = SeededGenerator(seed: seed)
            let folder = try TemporaryFolder()
            var bytes = Data(capacity: total)
            while bytes.count < total { withUnsafeBytes(of: chance.next()) { bytes.append(contentsOf: $0) } }
            try bytes.write(to: folder.file("body"))
            let authority = try await TestAuthority(in: folder)
            let origin = try Command(
                "/usr/bin/python3",
                [
                    "-B", Fixtures.path("record_cutting_origin.py"), folder.file("body").path, authority.identity.certificate,
                    authority.identity.key, "\(seed)",
                ]
            ).start()
            let port = try await FolderWatch(origin.folder.url).first("the origin listens") {
                if origin.hasEnded { throw ProcessError("The origin ended: \(origin.errors)") }
                return origin.output.split(separator: "\n").first.flatMap { Int($0) }
            }
            let layover = try await RunningLayover.start(
                """
                {"tls":{"caFile":"\(authority.certificate)"},
                 "routes":{"cut":{"upstream":"https://localhost:\(port)"}},
                 "policies":{"default":{"delay":{"type":"constant","every":"20ms","jitter":"none"}}}}
                """)
            try await body(layover, folder, bytes, seed)
            await layover.stop()
            origin.signal(SIGTERM)
        }
    }
}
