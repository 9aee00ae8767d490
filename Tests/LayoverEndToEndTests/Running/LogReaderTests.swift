import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Standard error whose disk is full, or whose reader is gone or stalls: the proxy goes on.
    @Suite struct LogReaders {
        enum Reader: String, CaseIterable, Sendable {
            case diskIsFull = #"exec "$@" 2>/dev/full"#
            case isGone = #"mkfifo reader; head -n 1 reader >/dev/null & exec "$@" 2>reader"#
            /// The shell holds the reading end itself (fifo(7)), and never reads.
            case stalls = #"mkfifo reader; exec "$@" 2<>reader"#
        }

        @Test(arguments: Reader.allCases)
        func stalledOrClosedLogReaderDoesNotStopTheProxy(reader: Reader) async throws {
            let folder = try TemporaryFolder()
            try folder.write(#"{"log": {"level": "trace"}, "proxy": {"threads": 1}}"#, to: "config.json")
            let layover = try await RunningLayover.start(in: folder, under: ["sh", "-c", reader.rawValue, "sh"])
            // Several lines for each: more than a pipe takes.
            for _ in 1...400 { try #require(try await layover.call("GET", "/livez").status == 200) }
            func dropped() async throws -> Double {
                let metrics = try await layover.call("GET", "/metrics").text
                let line = try #require(metrics.split(separator: "\n").first { $0.hasPrefix("layover_log_lines_dropped_total ") })
                return try #require(line.split(separator: " ").last.flatMap { Double($0) })
            }
            if reader == .stalls {
                // The buffer has room for what a reader that stalls leaves.
                #expect(try await dropped() == 0)
            } else {
                // The lines are written by a thread of their own, which finds out that it cannot.
                try await eventually("lines are dropped") { try await dropped() > 0 }
            }
            let result = await layover.stop(within: .seconds(60))
            #expect(result.status == 0)
            #expect(!result.timedOut)
        }
    }
}
