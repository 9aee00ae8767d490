import Foundation
import LayoverTestSupport

/// A running proxy with a store, and an origin that records, which is away until it is started.
struct DurableScene {
    /// Waits are short, and only a few.
    static let configuration = """
        {
          "proxy": { "threads": 1 },
          "log": { "level": "warning" },
          "policies": { "default": { "delay": { "type": "constant", "every": "50ms", "jitter": "none" } } }
        }
        """

    let folder: TemporaryFolder
    let port: ReservedPort
    let layover: RunningLayover

    init(
        storeIn store: String? = nil, under prefix: [String] = [], environment: [String: String] = [:], configuration: String = Self.configuration
    ) async throws {
        folder = try TemporaryFolder()
        port = try ReservedPort()
        try folder.write(configuration, to: "config.json")
        layover = try await Self.start(in: folder, storeIn: store, under: prefix, environment: environment)
    }

    private init(_ folder: TemporaryFolder, _ port: ReservedPort, _ layover: RunningLayover) {
        self.folder = folder
        self.port = port
        self.layover = layover
    }

    /// The same store and the same origin in a new process.
    func restarted(
        storeIn store: String? = nil, under prefix: [String] = [], environment: [String: String] = [:]
    ) async throws -> DurableScene {
        let layover = try await Self.start(in: folder, storeIn: store, under: prefix, environment: environment)
        return DurableScene(folder, port, layover)
    }

    private static func start(
        in folder: TemporaryFolder, storeIn store: String?, under prefix: [String], environment: [String: String]
    ) async throws -> RunningLayover {
        var environment = environment
        if let store { environment["LAYOVER_STORE_PATH"] = store + "/layover.sqlite" }
        return try await RunningLayover.start(in: folder, under: prefix, environment: environment)
    }

    func startOrigin() async throws -> RecordingOrigin { try await RecordingOrigin.start(port: port) }

    /// Sends a request that is to become a ticket.
    func send(_ id: String, _ fields: String..., bodyByteCount: Int = 100) async throws -> PlainResponse {
        try await layover.exchange(
            DurableRequest(id: id, port: port.number, fields: fields, bodyByteCount: bodyByteCount).text)
    }

    /// Sends one that must be accepted, and gives its ticket.
    func accept(_ id: String, bodyByteCount: Int = 100) async throws -> String {
        let response = try await send(id, "Prefer: respond-async, wait=0", bodyByteCount: bodyByteCount)
        guard response.status == 202, let ticket = response.ticket else {
            throw ProcessError("\(id): \(response.status) \(response.text)")
        }
        return ticket
    }

    /// Waits until all of them are delivered.
    func expectDelivery(of tickets: [String]) async throws {
        for ticket in tickets {
            let view = try await layover.ticket(ticket, wait: 20)
            guard view.state == "delivered", view.response?.status == 200 else { throw ProcessError("\(view)") }
        }
    }
}

extension RecordingOrigin {
    /// How often a head with that id has arrived.
    func arrivals(of id: String) throws -> Int {
        try events().count { event in if case .head(id, _) = event { true } else { false } }
    }
}
