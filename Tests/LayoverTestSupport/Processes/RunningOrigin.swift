import Foundation

/// One run of `Tests/Fixtures/origin.py`: a real origin in a process of its own.
package final class RunningOrigin: Sendable {
    /// A line of the origin's log.
    package struct Record: Sendable, Codable {
        package var event: String
        package var method: String
        package var target: String
        /// Seconds of CLOCK_MONOTONIC at which the request's head had arrived.
        package var at: Double
        package var length: Int?
        package var sha256: String?
        /// Names and values of the request.
        package var fields: [[String]]?
    }

    package var port: Int { fixture.port }
    private let fixture: RunningFixture

    private init(_ fixture: RunningFixture) { self.fixture = fixture }

    /// Starts it and waits until it listens.
    ///
    /// - Parameters:
    ///   - port: nil = a free one.
    ///   - root: The folder of the files it serves.
    ///   - identity: With one it speaks TLS.
    package static func start(
        in root: TemporaryFolder, port: ReservedPort? = nil, address: String = "127.0.0.1",
        identity: TestAuthority.Identity? = nil, namespace: String? = nil
    ) async throws -> RunningOrigin {
        RunningOrigin(
            try await RunningFixture.start(
                "origin.py", called: "origin", ["--address", address, "--root", root.url.path], port: port, identity: identity,
                namespace: namespace))
    }

    /// Records of the requests so far, in order.
    package var records: [Record] { allRecords.filter { $0.event != Self.listening } }

    /// Seconds of CLOCK_MONOTONIC at which it began to listen.
    package var listensAt: Double? { allRecords.first { $0.event == Self.listening }?.at }

    private static let listening = "listening"

    private var allRecords: [Record] { fixture.records() }

    package func waitForRecord(_ what: String, where matches: @escaping @Sendable (Record) -> Bool) async throws -> Record {
        try await fixture.first(what) { [self] in records.first(where: matches) }
    }

    /// Ends it as a crash would: at once, with every connection open.
    package func kill() async { await fixture.kill() }
}
