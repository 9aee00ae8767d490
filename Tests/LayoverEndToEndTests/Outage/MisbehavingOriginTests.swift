import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Origins that misbehave, by each way on which Layover speaks HTTP/1.1 (decision 94).
    @Suite struct MisbehavingOrigins {
        /// Output of `misbehaving_origins.py` for a behaviour and a way.
        private struct Outcome: Decodable, Hashable {
            var behaviour: String
            var way: String
            /// The status, where the client got a response of the origin.
            var kind: String
            var phase: String
            var evidence: String
            var attempts: Int
            var connections: Int
            var text: String
        }

        private struct Difference {
            var ways: [String]
            var kind = "http_protocol_error"
            var text: String
        }

        private static let libcurl = ["libcurl", "libcurl-tls"]
        private static let upgrades = ["upgrade", "upgrade-tls"]
        private static let otherProtocol = Difference(
            ways: upgrades, kind: "http_upgrade_failed",
            text: "The origin switched to another protocol than the one that the request asked for.")

        /// What some ways report otherwise than a GET on the direct way without TLS, by the behaviour.
        private static let differences: [String: Difference] = [
            // libcurl hands over whole lines of a head.
            "cut in the status line": Difference(
                ways: libcurl, kind: "connection_terminated", text: "The connection was closed before a response arrived."),
            // libcurl has one result code for all status lines that it refuses, and one for all fields.
            "status 099": Difference(ways: libcurl, text: "The origin did not answer with HTTP/1."),
            "field without a colon": Difference(ways: libcurl, text: "The response is not valid HTTP."),
            // The key `http2` needs TLS, and an upgrade needs HTTP/1.1.
            "settings of HTTP/2": Difference(
                ways: ["direct-tls", "libcurl-tls"],
                text: "The origin answered in HTTP/2, and was asked in HTTP/1.1. "
                    + "If the origin speaks HTTP/2 only, set http2 on its route."),
            // Only the upgrade asked for another protocol.
            "101 without Upgrade": otherProtocol, "101 with another token": otherProtocol, "101 with two tokens": otherProtocol,
            "101 of HTTP/1.0": otherProtocol, "101 as asked for": Difference(ways: upgrades, kind: "101", text: ""),
        ]

        /// Kinds of the failures of a GET on the direct way.
        private static let kinds: [String: [String]] = [
            "connection_terminated": ["closes", "resets"],
            "http_response_timeout": ["silent", "stall in the head", "stall after an interim head", "slow head"],
            "http_response_incomplete": [
                "cut in the status line", "cut in the head", "reset in the head", "cut after an interim head", "later cut in the body",
                "later reset in the body", "later cut in a chunk",
            ],
            "http_response_header_section_size": ["head of 20 KB", "line of 150 KB", "status line of 150 KB", "1500 fields"],
            "http_protocol_error": [
                "words", "settings of HTTP/2", "alert of TLS", "status 099", "100 interim heads", "field without a colon", "two lengths",
                "unknown coding", "101 without Upgrade", "101 with another token", "101 with two tokens", "101 of HTTP/1.0",
                "101 as asked for",
            ],
            "connection_read_timeout": ["later stall in the body"],
            "http_response_transfer_coding": [
                "later chunk of no size", "later chunk of 17 digits", "later chunk without its end",
            ],
            "http_response_trailer_section_size": ["later trailers of 20 KB"],
        ]

        private static func outcomes() async throws -> [Outcome] {
            let files = try TemporaryFolder()
            let authority = try await TestAuthority(in: files)
            var layovers: [RunningLayover] = []
            for upstream in ["direct", "libcurl"] {
                let layover = try await RunningLayover.start(
                    """
                    {"proxy": {"upstream": "\(upstream)"}, "tls": {"caFile": "\(authority.certificate)"},
                     "limits": {"headerBytes": "16KiB"}, "reachability": {"mode": "online"},
                     "routes": {"head": {"host": "127.0.0.1", "pathPrefix": "/head", "timeouts": {"firstByte": "2s"}},
                                "body": {"host": "127.0.0.1", "pathPrefix": "/body", "timeouts": {"idle": "2s"}}},
                     "policies": {"default": {"automaticAttemptsMax": 2, "delay": {"type": "constant", "every": "50ms", "jitter": "none"}}}}
                    """)
                layovers.append(layover)
            }
            let ports = layovers.flatMap { ["\($0.proxyPort)", "\($0.admin.port)"] }
            let words = ["-B", Fixtures.path("misbehaving_origins.py")] + ports + [authority.identity.certificate, authority.identity.key]
            let result = try await Command("python3", words).succeed(within: .seconds(120))
            withExtendedLifetime((layovers, files)) {}
            return try result.output.split(separator: "\n").map { try JSONDecoder().decode(Outcome.self, from: Data($0.utf8)) }
        }

        @Test func eachWayReportsAMisbehavingOriginAlike() async throws {
            let outcomes = Dictionary(grouping: try await Self.outcomes(), by: \.behaviour)
            #expect(Set(outcomes.keys) == Set(Self.kinds.values.joined()), "each behaviour has its kind")
            for (kind, behaviours) in Self.kinds {
                for behaviour in behaviours {
                    let ways = try #require(outcomes[behaviour], "\(behaviour)")
                    #expect(ways.count == 6, "\(behaviour)")
                    let direct = try #require(ways.first { $0.way == "direct" })
                    #expect(direct.kind == kind, "\(direct)")
                    #expect(direct.attempts == direct.connections, "\(direct)")
                    for way in ways { Self.compare(way, with: direct) }
                }
            }
        }

        private static func compare(_ outcome: Outcome, with direct: Outcome) {
            var expected = direct
            expected.way = outcome.way
            if let difference = differences[outcome.behaviour], difference.ways.contains(outcome.way) {
                #expect(difference.kind != direct.kind || difference.text != direct.text, "the listed difference is needed: \(direct)")
                (expected.kind, expected.text) = (difference.kind, difference.text)
                // A response has no evidence.
                if difference.kind == "101" { (expected.phase, expected.evidence) = ("", "") }
            }
            #expect(outcome == expected)
        }
    }
}
