import Hummingbird
import LayoverEngine
import Logging
import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import LayoverAdmin

/// Wrong tokens are counted for each address of a client; one machine may have a whole network of IPv6.
struct TokenGuessesTests {
    private static func context(from host: String) throws -> AdminContext {
        let channel = EmbeddedChannel()
        channel.remoteAddress = try SocketAddress(ipAddress: host, port: 40_000)
        return AdminContext(source: ApplicationRequestContextSource(channel: channel, logger: Logger(label: "test")))
    }

    @Test func addressesOfOneNetworkOfIPv6AreOneGuesser() async throws {
        let pauses = Mutex<[Duration]>([])
        let guesses = TokenGuesses(clock: FixedClock(), pause: { pause in pauses.withLock { $0.append(pause) } })
        for host in ["2001:db8::1", "2001:db8::2", "2001:db8:0:0:ffff::3", "2001:db8::4"] { try await guesses.failed(from: Self.context(from: host)) }
        #expect(pauses.withLock { $0 } == [.milliseconds(250)])
        try await guesses.failed(from: Self.context(from: "2001:db8:0:1::1"))
        for host in ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"] { try await guesses.failed(from: Self.context(from: host)) }
        #expect(pauses.withLock { $0.count } == 1, "other networks, and other addresses of IPv4, are others")
    }
}
