import LayoverTestSupport
import Testing

@testable import LayoverUpstream

/// Real lookups over a real link: two network namespaces, the name server in the far one.
@Suite(.bothPaths)
struct NameOutageTests {
    @Test(.timeLimit(.minutes(3)))
    func unknownNameIsDistinguishedFromALinkThatIsDown() async throws {
        guard await NetworkPair.isPermitted(orSkip: "no outage of names") else { return }
        try await NetworkPair.with { try await tellApart(over: $0) }
    }

    private func tellApart(over network: NetworkPair) async throws {
        let server = try await onOwnThread {
            try NetworkNamespace.enter(network.name(.far))
            return try ScriptedNameServer(address: NetworkPair.farAddress)
        }
        defer { server.stop() }
        // A link that comes up loses the question, so the next one has to come soon.
        let lookUp: @Sendable (String, CInt) async throws -> NameOutcome = { name, patience in
            try await onOwnThread {
                try NetworkNamespace.enter(network.name(.near))
                try ResolverOfThread.ask(NetworkPair.farAddress, port: server.port, patience: patience)
                return SystemLookup.lookUp(name)
            }
        }
        let mistyped = "unknown.layover.test."
        #expect(try await Self.answerOverALinkThatComesUp { try await lookUp(mistyped, 1) } == .failed(.unknown))
        #expect(try await lookUp("here.layover.test.", 15) == .addresses("127.0.0.1"))
        for side in NetworkPair.Side.allCases {
            try await network.link(side, up: false)
            #expect(try await lookUp(mistyped, 1) == .failed(.noResolver))
            #expect(try await lookUp("here.layover.test.", 1) == .failed(.noResolver))
            try await network.link(side, up: true)
            #expect(
                try await Self.answerOverALinkThatComesUp { try await lookUp(mistyped, 1) } == .failed(.unknown))
        }
    }

    /// Asks until there is a response: the kernel takes up to a second until a link that is up has its carrier
    /// (net/core/link_watch.c).
    private static func answerOverALinkThatComesUp(
        _ lookUp: () async throws -> NameOutcome
    ) async throws -> NameOutcome {
        let deadline = Deadline(in: .seconds(20))
        var last = NameOutcome.failed(.noResolver)
        while last == .failed(.noResolver), !deadline.hasPassed { last = try await lookUp() }
        return last
    }
}
