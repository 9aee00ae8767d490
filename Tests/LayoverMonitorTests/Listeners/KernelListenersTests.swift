import Glibc
import LayoverTestSupport
import Testing

@testable import LayoverMonitor

/// Listening sockets that the kernel reports.
struct KernelListenersTests {
    private let table = KernelListeners()

    /// A program that is being started may have the descriptor, too, so that closing it here does not end the listening yet.
    private func stopListening(_ descriptor: CInt) {
        shutdown(descriptor, CInt(SHUT_RDWR))
        close(descriptor)
    }

    @Test(arguments: [false, true]) func aSocketIsSeenUntilItCloses(usingIPv6: Bool) throws {
        let (descriptor, port) = try ListeningSocket.make(usingIPv6: usingIPv6)
        #expect(table.listeners(on: port)?.count == 1)
        #expect(table.listeners(on: port) == table.listeners(on: port))
        stopListening(descriptor)
        #expect(table.listeners(on: port) == [])
    }

    @Test func eachSocketHasANumberOfItsOwn() throws {
        var seen: Set<UInt64> = []
        let made = try (0..<20).map { try ListeningSocket.make(usingIPv6: $0.isMultiple(of: 2)) }
        for (_, port) in made { seen.formUnion(try #require(table.listeners(on: port))) }
        #expect(seen.count == made.count)
        for (descriptor, _) in made { close(descriptor) }
    }

    /// A connection to the port is no socket that listens there.
    @Test func connectionsDoNotCount() throws {
        let (descriptor, port) = try ListeningSocket.make()
        let connection = try RawConnection(port: port)
        #expect(table.listeners(on: port)?.count == 1)
        stopListening(descriptor)
        #expect(table.listeners(on: port) == [])
        _ = connection
    }

    @Test(arguments: [-1, 0, 65536]) func invalidPortsHaveNoListeners(port: Int) { #expect(table.listeners(on: port) == []) }
}
