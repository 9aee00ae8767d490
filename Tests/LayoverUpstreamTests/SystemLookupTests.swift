import Glibc
import LayoverCore
import LayoverTestSupport
import Testing

@testable import LayoverUpstream

/// Results of the real getaddrinfo for names of a real server.
struct SystemLookupTests {
    private static let results: [(Int32, NameFailure)] = [
        (-2, .unknown), (-5, .noAddress), (-9, .noAddress), (-3, .noResolver), (-4, .refused),
        (-11, .system(24)), (-10, .system(-10)), (-1, .system(-1)), (-105, .system(-105)),
    ]

    @Test(arguments: results)
    func resultsAreDistinguished(code: Int32, failure: NameFailure) {
        #expect(SystemLookup.failure(of: code, osError: 24) == failure)
    }

    /// The silent server is waited for to the end.
    private static func patience(for name: String) -> CInt { name.hasPrefix("silent") ? 1 : 15 }

    @Test(arguments: [
        ("here.layover.test.", NameOutcome.addresses("127.0.0.1")),
        ("unknown.layover.test.", .failed(.unknown)),
        ("bare.layover.test.", .failed(.noAddress)),
        ("failing.layover.test.", .failed(.noResolver)),
        ("refused.layover.test.", .failed(.noResolver)),
        ("silent.layover.test.", .failed(.noResolver)),
    ])
    func unknownNameIsDistinguishedFromASilentServer(
        name: String, outcome: NameOutcome
    ) async throws {
        let server = try ScriptedNameServer()
        defer { server.stop() }
        let found = try await onOwnThread {
            try ResolverOfThread.ask(port: server.port, patience: Self.patience(for: name))
            return SystemLookup.lookUp(name)
        }
        // A silent server may read the question after the lookup has ended.
        try await eventually("the question at the server") { server.asked.contains(String(name.dropLast())) }
        #expect(found == outcome)
    }

    @Test func missingServerDoesNotMeanAnUnknownName() async throws {
        let server = try MissingNameServer()
        let found = try await onOwnThread {
            try ResolverOfThread.ask(port: server.port)
            return SystemLookup.lookUp("unknown.layover.test.")
        }
        #expect(found == .failed(.noResolver))
    }

    @Test func localhostIsFoundWithoutAServer() {
        guard case .addresses(let addresses) = SystemLookup.lookUp("localhost") else {
            Issue.record("localhost is not known")
            return
        }
        #expect(addresses.split(separator: ",").allSatisfy { ["127.0.0.1", "[::1]"].contains($0) })
    }

    /// The whole way: real lookups on the resolver's threads, real attempts.
    @Test func attemptsEndByTheAnswerOfTheNameServer() async throws {
        let origin = try MisbehavingOrigin.answering()
        defer { origin.stop() }
        let server = try ScriptedNameServer()
        defer { server.stop() }
        let resolver = NameResolver(limits: ResolverLimits(nameAgeMax: .seconds(10))) { name in
            do {
                try ResolverOfThread.ask(port: server.port, patience: Self.patience(for: name))
            } catch {
                return .failed(.system(-1))
            }
            return SystemLookup.lookUp(name)
        }
        let rig = try UpstreamRig(resolver: resolver)
        func send(_ host: String) async -> AttemptRecord.Facts {
            await rig.send(rig.request("GET", port: origin.port, host: host))
        }
        #expect(await send("here.layover.test.").status == 200)
        let unknown = try #require(await send("unknown.layover.test.").failure)
        #expect(unknown.isNameUnknown)
        #expect(unknown.evidence == .neverSent)
        let silent = try #require(await send("silent.layover.test.").failure)
        #expect(silent.kind == .dnsError)
        #expect(!silent.isNameUnknown)
        try await rig.stop()
    }
}
