import LayoverTestSupport

/// One run of `Tests/Fixtures/webhook.py`: a receiver of notifications in a process of its own.
final class RunningReceiver: Sendable {
    /// `secretsecretsecret` in base64.
    static let secret = "c2VjcmV0c2VjcmV0c2VjcmV0"

    /// An event as the notification tells it.
    struct Event: Sendable, Codable {
        struct Incident: Sendable, Codable {
            var id: String
            var kind: String
        }

        struct Limit: Sendable, Codable {
            var name: String
        }

        var type: String
        var text: String
        var incident: Incident?
        var limit: Limit?
        var more: [Event]?

        /// This event and the events in `more`.
        var all: [Event] { [self] + (more ?? []) }
    }

    struct Record: Sendable, Codable {
        var id: String
        var target: String
        var isSigned: Bool
        var body: Event
    }

    var port: Int { fixture.port }
    private let fixture: RunningFixture

    private init(_ fixture: RunningFixture) { self.fixture = fixture }

    /// - Parameter port: Default (nil): a free port.
    static func start(port: ReservedPort? = nil) async throws -> RunningReceiver {
        RunningReceiver(try await RunningFixture.start("webhook.py", called: "receiver", ["--secret", secret], port: port))
    }

    /// Notifications so far.
    var records: [Record] { fixture.records() }

    func waitForEvent(_ what: String, where matches: @escaping @Sendable (Event) -> Bool) async throws -> Record {
        try await fixture.first(what) { [self] in
            records.first { $0.body.all.contains(where: matches) }
        }
    }
}
