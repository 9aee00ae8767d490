import LayoverTestSupport

/// A running proxy, and a port where an origin is or will be.
struct Scene {
    let layover: RunningLayover
    let root: TemporaryFolder
    let port: ReservedPort

    init(_ configuration: String = RunningLayover.quickRetries) async throws {
        layover = try await RunningLayover.start(configuration)
        root = try TemporaryFolder()
        port = try ReservedPort()
    }

    init(layover: RunningLayover, root: TemporaryFolder, port: ReservedPort) {
        self.layover = layover
        self.root = root
        self.port = port
    }

    /// A proxy, and an origin that is there from the start.
    static func withOrigin(_ configuration: String = RunningLayover.quickRetries) async throws -> (Scene, RunningOrigin) {
        let scene = try await Scene(configuration)
        return (scene, try await scene.startOrigin())
    }

    func url(_ path: String) -> String { "http://127.0.0.1:\(port.number)\(path)" }

    func secureURL(_ path: String) -> String { "https://localhost:\(port.number)\(path)" }

    func startOrigin(_ identity: TestAuthority.Identity? = nil) async throws -> RunningOrigin {
        try await RunningOrigin.start(in: root, port: port, identity: identity)
    }

    /// Runs a client against an origin that is there already, or that comes up once the client waits.
    ///
    /// The client is given no help: it must end well by what Layover does.
    func run(
        _ client: Command, origin timing: OriginTiming, identity: TestAuthority.Identity? = nil
    ) async throws -> (result: CommandResult, records: [RunningOrigin.Record]) {
        switch timing {
        case .already:
            let origin = try await startOrigin(identity)
            return (try await client.run(), origin.records)
        case .later:
            let running = try client.start()
            try await layover.waitForPending("\(client.executable) waits") { !$0.data.isEmpty }
            let origin = try await startOrigin(identity)
            return (await running.result(), origin.records)
        }
    }
}
