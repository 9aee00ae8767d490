/// One run of `Tests/Fixtures/parent_proxy.py`: a parent proxy in a process of its own. Names that end in `.behind` are known to it alone.
package final class RunningParentProxy: Sendable {
    /// A line of its log.
    package struct Record: Sendable, Codable {
        package var method: String
        package var target: String
        /// Proxy-Authorization, or user and password of SOCKS.
        package var authorization: String?
        /// Names of the fields, in lower case.
        package var fields: [String]
    }

    package var port: Int { fixture.port }
    private let fixture: RunningFixture

    private init(_ fixture: RunningFixture) { self.fixture = fixture }

    /// Starts it and waits until it listens.
    ///
    /// - Parameter credentials: `user:password`; empty: none are required.
    package static func start(
        _ scheme: String = "http", port: ReservedPort? = nil, credentials: String = "", identity: TestAuthority.Identity? = nil
    ) async throws -> RunningParentProxy {
        RunningParentProxy(
            try await RunningFixture.start(
                "parent_proxy.py", called: "parent proxy",
                ["--scheme", scheme, "--credentials", credentials], port: port, identity: identity))
    }

    /// Requests so far, in order.
    package var records: [Record] { fixture.records() }

    package func kill() async { await fixture.kill() }
}
