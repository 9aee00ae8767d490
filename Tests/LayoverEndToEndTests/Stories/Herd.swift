import Foundation
import LayoverTestSupport

/// Many clients of one proxy, and their origin, which is away at first: `Tests/Fixtures/herd.py`.
struct Herd: Decodable, Sendable {
    /// How many clients got which status.
    var statuses: [String: Int]
    /// Seconds from the return of the origin to the last response that is not a slow one.
    var late: Double
    /// The longest wait of a client, in seconds.
    var longest: Double
    /// How many requests the origin has answered with 200.
    var applied: Int
    /// How many of them it got more than once.
    var doubled: Int

    /// - Parameter words: Its options, as `--clients 200`.
    static func run(_ layover: RunningLayover, port: ReservedPort, _ words: String) async throws -> Herd {
        let arguments =
            ["-B", Fixtures.path("herd.py"), "--proxy", "\(layover.proxyPort)", "--port", "\(port.number)"]
            + words.split(separator: " ").map(String.init)
        let result = try await Command("/usr/bin/python3", arguments).succeed(within: .seconds(90))
        return try JSONDecoder().decode(Herd.self, from: Data(result.output.utf8))
    }
}
