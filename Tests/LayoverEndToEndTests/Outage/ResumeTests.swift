import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// A download whose connection breaks goes on inside the same response.
    @Suite(.bothPaths) struct Resume {
        private static let total = 200 << 20

        /// Breaks after 3 to 17 MiB, again and again.
        @Test func everyByteOf200MiBComesThroughAnOriginThatBreaks() async throws {
            let seed = UInt64.random(in: 1...999_999)
            let bytes = try Self.randomBytes(Self.total)
            let origin = try MisbehavingOrigin { connection in
                guard let head = connection.readHead() else { return }
                var chance = SeededGenerator(seed: seed + UInt64(connection.number))
                let first = Self.rangeStart(head) ?? 0
                let fields = "ETag: \"v1\"\r\nContent-Length: \(Self.total - first)\r\n"
                let isWhole = first == 0
                connection.write(
                    isWhole
                        ? "HTTP/1.1 200 OK\r\n\(fields)\r\n"
                        : "HTTP/1.1 206 Partial Content\r\n\(fields)Content-Range: bytes \(first)-\(Self.total - 1)/\(Self.total)\r\n\r\n")
                let end = min(Self.total, first + Int.random(in: (3 << 20)...(17 << 20), using: &chance))
                connection.write(Array(bytes[first..<end]))
                // By turns an end and a reset.
                if connection.number.isMultiple(of: 2) { connection.reset() } else { connection.close() }
            }
            defer { origin.stop() }
            let folder = try TemporaryFolder()
            let layover = try await RunningLayover.start(
                #"{"policies":{"default":{"delay":{"type":"constant","every":"20ms","jitter":"none"}}}}"#)
            let file = folder.file("download").path
            let result = try await layover.curl("-o", file, "http://127.0.0.1:\(origin.port)/big").run()
            #expect(result.status == 0, "seed \(seed): \(result)")
            let came = try Data(contentsOf: URL(fileURLWithPath: file), options: .mappedIfSafe)
            #expect(came == bytes, "seed \(seed)")
            #expect(origin.connections.count >= 12)
            let breaks = origin.connections.count - 1
            let metrics = try await Command("curl", ["--silent", "\(layover.adminURL)/metrics"]).run().output
            #expect(metrics.contains("resumed_responses_total \(breaks)\n"), "seed \(seed)")
        }

        /// Its origin gives up while bytes are still on their way to the client: they are not asked for again.
        @Test func slowClientGetsEveryByteOnce() async throws {
            let seed = UInt64.random(in: 1...999_999)
            let total = 6 << 20
            let bytes = try Self.randomBytes(total)
            let origin = try MisbehavingOrigin { connection in
                guard let head = connection.readHead() else { return }
                var chance = SeededGenerator(seed: seed + UInt64(connection.number))
                let first = Self.rangeStart(head) ?? 0
                let status = first == 0 ? "200 OK" : "206 Partial Content\r\nContent-Range: bytes \(first)-\(total - 1)/\(total)"
                connection.write("HTTP/1.1 \(status)\r\nLast-Modified: Sat, 01 Nov 2025 00:00:00 GMT\r\nDate: Sun, 02 Nov 2025 00:00:00 GMT\r\n")
                connection.write("Content-Length: \(total - first)\r\n\r\n")
                let end = min(total, first + Int.random(in: (256 << 10)...(2 << 20), using: &chance))
                connection.write(Array(bytes[first..<end]))
                if connection.number.isMultiple(of: 2) { connection.reset() } else { connection.close() }
            }
            defer { origin.stop() }
            let folder = try TemporaryFolder()
            let layover = try await RunningLayover.start(
                #"{"policies":{"default":{"delay":{"type":"constant","every":"20ms","jitter":"none"}}}}"#)
            let file = folder.file("download").path
            let result = try await layover.curl("--limit-rate", "2M", "-o", file, "http://127.0.0.1:\(origin.port)/big").run()
            #expect(result.status == 0, "seed \(seed): \(result)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == bytes, "seed \(seed)")
            #expect(origin.connections.count >= 3)
        }

        private static func rangeStart(_ head: String) -> Int? {
            guard let line = head.split(whereSeparator: \.isNewline).first(where: { $0.hasPrefix("Range: bytes=") }) else { return nil }
            return Int(line.dropFirst("Range: bytes=".count).dropLast())
        }

        private static func randomBytes(_ count: Int) throws -> Data {
            let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/dev/urandom"))
            defer { try? handle.close() }
            var data = Data(capacity: count)
            while data.count < count, let part = try handle.read(upToCount: min(8 << 20, count - data.count)) { data.append(part) }
            return data
        }
    }
}
