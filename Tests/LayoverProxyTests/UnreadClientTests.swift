import Glibc
import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverProxy

/// A client that leaves while nobody reads from it: its FIN waits behind what it sent.
struct UnreadClientTests {
    /// Limits that let the proxy keep next to nothing.
    private static func stingy(_ configuration: inout ProxyConfiguration) {
        configuration.body.inMemoryMax = 1000
        configuration.body.byteCountMax = 1000
    }

    @Test func clientWithUnreadDataIsNoticedWhenItLeaves() async throws {
        try await withProxy(configuration: Self.stingy) { proxy in
            let client = try FullClient(port: proxy.port)
            client.send(Array("PUT http://o.test/ HTTP/1.1\r\nHost: o\r\nContent-Length: \(1 << 30)\r\n\r\n".utf8))
            let entry = try await proxy.parkNext()
            client.sendUntilNobodyTakesMore()
            try await proxy.tick(in: .seconds(1))
            #expect(await proxy.engine.entry(entry.id)?.state == .waiting, "it is still there")
            client.close()
            _ = try await proxy.entry(.cancelled)
            try await ConnectionTests.waitForNoConnection(proxy)
        }
    }
}

/// A client with a socket of its own, which no event loop empties.
private final class FullClient {
    private let descriptor: CInt

    init(port: Int) throws {
        // A program that another test starts must not keep the connection open.
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        var address = LoopbackAddress.make(port: port)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
        guard descriptor >= 0, result == 0 else { throw WaitedTooLong(what: "a connection") }
    }

    func send(_ bytes: [UInt8]) { #expect(Glibc.send(descriptor, bytes, bytes.count, 0) == bytes.count) }

    /// Until the kernel has had no room for 300 ms.
    func sendUntilNobodyTakesMore() {
        let bytes = [UInt8](repeating: 120, count: 1 << 16)
        var state = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        while poll(&state, 1, 300) > 0 {
            guard Glibc.send(descriptor, bytes, bytes.count, CInt(MSG_DONTWAIT)) > 0 || errno == EAGAIN else { return }
        }
    }

    func close() { Glibc.close(descriptor) }
}
