import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// A download whose connection breaks goes on inside the same response. RESUME_SEED chooses where it breaks.
    @Suite(.bothPaths) struct Resume {
        private static let total = 200 << 20

        /// Breaks after 3 to 17 MiB, again and again.
        @Test func everyByteOf200MiBComesThroughAnOriginThatBreaks() async throws {
            let count = try await Self.expectEveryByte(
                of: Self.total, breakingAfter: (3 << 20)...(17 << 20), validator: "ETag: \"v1\"")
            #expect(count >= 12)
        }

        /// The origin breaks off while bytes are still on their way to the client: they are not requested again.
        @Test func slowClientGetsEveryByteOnce() async throws {
            let count = try await Self.expectEveryByte(
                of: 6 << 20, breakingAfter: (256 << 10)...(2 << 20),
                validator: "Last-Modified: Sat, 01 Nov 2025 00:00:00 GMT\r\nDate: Sun, 02 Nov 2025 00:00:00 GMT", "--limit-rate", "2M")
            #expect(count >= 3)
        }

        /// Downloads random bytes with curl from an origin whose connections break.
        ///
        /// - Returns: How many connections there were.
        private static func expectEveryByte(
            of total: Int, breakingAfter sizes: ClosedRange<Int>, validator: String, _ options: String...
        ) async throws -> Int {
            let seed = ProcessInfo.processInfo.environment["RESUME_SEED"].flatMap(UInt64.init) ?? .random(in: 1...999_999)
            let bytes = try randomBytes(total)
            let origin = try MisbehavingOrigin { connection in
                guard let head = connection.readHead() else { return }
                var chance = SeededGenerator(seed: seed + UInt64(connection.number))
                let first = rangeStart(head) ?? 0
                let status = first == 0 ? "200 OK" : "206 Partial Content\r\nContent-Range: bytes \(first)-\(total - 1)/\(total)"
                connection.write("HTTP/1.1 \(status)\r\n\(validator)\r\nContent-Length: \(total - first)\r\n\r\n")
                let end = min(total, first + Int.random(in: sizes, using: &chance))
                // The head and the first bytes arrive in any case: a response that a reset takes away as a whole is not resumed.
                let begun = min(end, first + 1024)
                connection.write(Array(bytes[first..<begun]))
                connection.waitUntilRead()
                connection.write(Array(bytes[begun..<end]))
                // By turns an end and a reset.
                if connection.number.isMultiple(of: 2) { connection.reset() } else { connection.close() }
            }
            defer { origin.stop() }
            let folder = try TemporaryFolder()
            let layover = try await RunningLayover.start(
                #"{"policies":{"default":{"delay":{"type":"constant","every":"20ms","jitter":"none"}}}}"#)
            let file = folder.file("download").path
            var client = layover.curl("-o", file, "http://127.0.0.1:\(origin.port)/big")
            client.arguments += options
            let result = try await client.run()
            #expect(result.status == 0, "seed \(seed): \(result)")
            let came = try Data(contentsOf: URL(fileURLWithPath: file), options: .mappedIfSafe)
            #expect(came == bytes, "seed \(seed)")
            let count = origin.connections.count
            let metrics = try await Command("curl", ["--silent", "\(layover.adminURL)/metrics"]).run().output
            #expect(metrics.contains("resumed_responses_total \(count - 1)\n"), "seed \(seed)")
            return count
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
