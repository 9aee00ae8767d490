import LayoverTestSupport

/// Layover on one end of a cable, an origin on the other, and a name server that alone knows the origin's name.
struct NamedOrigin {
    /// Where the name server runs, seen from Layover.
    enum ServerPlace: String, CaseIterable {
        /// Nobody answers while the cable is pulled.
        case acrossTheCable
        /// Like the stub of a desktop: it answers always, and knows no name while the cable is pulled.
        case onThisMachine

        /// The failure of a lookup while the cable is pulled, in Layover's terms.
        var wordInOutage: String {
            switch self {
            case .acrossTheCable: "no resolver answered"
            case .onThisMachine: "does not exist"
            }
        }
    }

    /// A domain that will never exist (RFC 6761 section 6.4).
    static let name = "origin.layover.test"
    static let mistypedName = "orgin.layover.test"
    private static let names = [name: NetworkPair.farAddress]

    let network: NetworkPair
    let layover: RunningLayover
    let origin: RunningOrigin
    let place: ServerPlace
    private(set) var nameServer: RunningNameServer

    /// Builds it, runs `body` and takes everything away again; where there can be no namespaces it says so.
    static func run(
        _ place: ServerPlace, _ configuration: String, _ body: (inout NamedOrigin) async throws -> Void
    ) async throws {
        guard await NetworkPair.isPermitted(orSkip: "no name server of its own") else { return }
        try await NetworkPair.with { network in
            var scene = try await NamedOrigin(in: network, place, configuration)
            try await body(&scene)
            await scene.layover.stop()
        }
    }

    private init(in network: NetworkPair, _ place: ServerPlace, _ configuration: String) async throws {
        self.network = network
        self.place = place
        nameServer = try await Self.startNameServer(place, in: network)
        try NamespaceFiles.setNameServer(nameServer.address, of: network.name(.near))
        origin = try await RunningOrigin.start(
            in: try TemporaryFolder(), address: NetworkPair.farAddress, namespace: network.name(.far))
        layover = try await RunningLayover.start(configuration, namespace: network.name(.near))
    }

    private static func startNameServer(
        _ place: ServerPlace, in network: NetworkPair
    ) async throws -> RunningNameServer {
        switch place {
        case .acrossTheCable:
            try await .start(knowing: names, address: NetworkPair.farAddress, namespace: network.name(.far))
        case .onThisMachine:
            try await .start(knowing: names, address: "127.0.0.1", namespace: network.name(.near))
        }
    }

    /// The origin's URL by its name.
    func url(_ path: String) -> String { "http://\(Self.name):\(origin.port)\(path)" }

    /// Takes the link down; what follows happens in the outage.
    func goAway(_ side: NetworkPair.Side) async throws {
        if place == .onThisMachine { try nameServer.know([:]) }
        try await network.link(side, up: false)
        try await layover.waitUntilOffline()
    }

    func comeBack(_ side: NetworkPair.Side) async throws {
        if place == .onThisMachine { try nameServer.know(Self.names) }
        try await network.link(side, up: true)
    }

    mutating func restartNameServer() async throws {
        await nameServer.kill()
        nameServer = try await Self.startNameServer(place, in: network)
    }
}
